import { take } from 'rxjs';
import { acsDelta, createLedger } from '../../../../src/index.js';
import { clock } from '../clock.js';
import { origin } from '../ledgerText.js';
import type { Load, Outcome } from '../Load.js';

/** The library's feed of what is still to come. */
export function measure({ url, count, options }: Load): Promise<Outcome> {
  const arrivedAt: number[] = [];
  const feed$ = createLedger({ baseUrl: url }).updates(
    { beginExclusive: origin, updateFormat: acsDelta({ parties: 'any' }) },
    options,
  );
  return new Promise((resolve, reject) => {
    feed$.pipe(take(count)).subscribe({
      next: () => {
        arrivedAt.push(clock());
      },
      error: reject,
      complete: () => {
        resolve({ cost: NaN, arrivedAt });
      },
    });
  });
}
