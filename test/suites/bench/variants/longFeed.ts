import process from 'node:process';
import { acsDelta, createLedger } from '../../../../src/index.js';
import { origin } from '../ledgerText.js';
import type { Load, Outcome } from '../Load.js';
import { median } from '../ratios.js';

const per = 10_000;

/** How much is in use when all that can go has gone. */
function heap(): number {
  // once more for what only becomes free by the first
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

/** One feed for a long time: does what it takes grow? */
export function measure({ url, count, step, options }: Load): Promise<Outcome> {
  const windows = new Float64Array(Math.ceil(count / per));
  const tenth = Math.floor(windows.length / 10);
  let seen = 0;
  let startedAt = performance.now();
  let firstHeap = NaN;
  let laterHeap = NaN;
  let lastHeap = NaN;
  const feed$ = createLedger({ baseUrl: url }).updates(
    { beginExclusive: origin, endInclusive: origin + count * step, updateFormat: acsDelta({ parties: 'any' }) },
    options,
  );
  const next = (): void => {
    seen += 1;
    if (seen % per !== 0) return;
    windows[seen / per - 1] = performance.now() - startedAt;
    if (seen === 100_000) firstHeap = heap();
    // by then the engine has compiled what it will compile
    if (seen === count / 5) laterHeap = heap();
    // not at the very end: what a feed holds while it reads would be missing
    if (seen === count - per) lastHeap = heap();
    startedAt = performance.now();
  };
  return new Promise((resolve, reject) => {
    feed$.subscribe({
      next,
      error: reject,
      complete: () => {
        // the first tenth is the compiler's; the first updates are those right after it
        const first = median([...windows.subarray(tenth, 2 * tenth)]);
        const last = median([...windows.subarray(-tenth)]);
        resolve({
          cost: last / first,
          figures: { heap: lastHeap / firstHeap, settledHeap: lastHeap / laterHeap, firstHeap },
        });
      },
    });
  });
}
