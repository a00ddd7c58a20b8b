import { acsDelta, createLedger } from '../../../../src/index.js';
import { burn } from '../burn.js';
import { origin } from '../ledgerText.js';
import type { Load, Outcome } from '../Load.js';
import { stopwatch } from '../stopwatch.js';

/** The library's feed, as its user has it. */
export function measure({ url, count, step, options, busyUs }: Load): Promise<Outcome> {
  const watch = stopwatch(count);
  const feed$ = createLedger({ baseUrl: url }).updates(
    { beginExclusive: origin, endInclusive: origin + count * step, updateFormat: acsDelta({ parties: 'any' }) },
    options,
  );
  return new Promise((resolve, reject) => {
    feed$.subscribe({
      next: () => {
        if (busyUs > 0) burn(busyUs);
        watch.add(1);
      },
      error: reject,
      complete: () => {
        resolve({ cost: watch.each() });
      },
    });
  });
}
