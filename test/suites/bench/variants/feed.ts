import process from 'node:process';
import { take } from 'rxjs';
import { acsDelta, createLedger, type Ledger } from '../../../../src/index.js';
import { burn, clock, type Load, type Outcome, idleShare, stopwatch } from '../Load.js';
import { origin } from '../ledgerText.js';
import { median } from '../report.js';

/** The ledger of a load. The port is loaded only where it is used: undici also takes over from Node's own fetch. */
export async function ledgerOf({ url, port }: Load): Promise<Ledger> {
  if (port === 'ky') return createLedger({ baseUrl: url });
  const { undiciPort } = await import('../../../../src/undici/index.js');
  return createLedger({ baseUrl: url, port: undiciPort() });
}

/** The library's public feed. */
export async function feed(load: Load): Promise<Outcome> {
  const { count, step, options, busyUs } = load;
  const ledger = await ledgerOf(load);
  const watch = stopwatch(count);
  const feed$ = ledger.updates(
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

/** The library's feed from the ledger end. */
export async function liveFeed(load: Load): Promise<Outcome> {
  const { count, options } = load;
  const arrivedAt: number[] = [];
  const ledger = await ledgerOf(load);
  const feed$ = ledger.updates({ beginExclusive: origin, updateFormat: acsDelta({ parties: 'any' }) }, options);
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

/** Many feeds of one ledger where nothing happens. */
export async function idleFeeds({ url, count, options }: Load): Promise<Outcome> {
  const ledger = createLedger({ baseUrl: url });
  const failures: unknown[] = [];
  for (let i = 0; i < count; i += 1) {
    ledger.updates({ beginExclusive: origin, updateFormat: acsDelta({ parties: 'any' }) }, options).subscribe({
      error: (error: unknown) => failures.push(error),
    });
  }
  const cost = await idleShare();
  if (failures.length > 0) throw failures[0];
  return { cost };
}

const per = 10_000;

/** The size of the heap after a garbage collection. */
function heap(): number {
  // twice, for objects that are released by the first one
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

/** One feed for a long time, to see whether its time or memory grows. */
export function longFeed({ url, count, step, options }: Load): Promise<Outcome> {
  const windows = new Float64Array(Math.ceil(count / per));
  const tenth = Math.floor(windows.length / 10);
  let seen = 0;
  let startedAt = performance.now();
  let firstHeap = NaN;
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
    // not at the end, where the feed has released its pages
    if (seen === count - per) lastHeap = heap();
    startedAt = performance.now();
  };
  return new Promise((resolve, reject) => {
    feed$.subscribe({
      next,
      error: reject,
      complete: () => {
        // the compiler works during the first tenth; the second one is the first to compare
        const first = median([...windows.subarray(tenth, 2 * tenth)]);
        const last = median([...windows.subarray(-tenth)]);
        resolve({
          cost: last / first,
          figures: { heap: lastHeap / firstHeap, firstHeap },
        });
      },
    });
  });
}
