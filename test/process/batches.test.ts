import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { throwError, timer } from 'rxjs';
import type { Work } from '../../src/process/ProcessOptions.js';
import { marbles } from '../helpers/marbles.js';
import { observe, offsets } from '../helpers/observe.js';
import { canton, failed, type Asked } from '../helpers/scripted.js';
import { fill, upTo } from '../helpers/world.js';
import { hashAtOnce, name, PlainStore, until, workshop } from './support.js';

beforeEach(() => {
  hashAtOnce();
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** Takes so many milliseconds for a batch, and keeps what it got. */
function batchWorker(tookMs = 0) {
  const batches: number[][] = [];
  const handle = (works: readonly Work[]): unknown => {
    batches.push(offsets(works));
    return tookMs === 0 ? undefined : timer(tookMs);
  };
  return { batches, handle };
}

const sizes = (batches: readonly (readonly number[])[]): number[] => batches.map(({ length }) => length);

describe('batches', () => {
  it.each([0, 30])('are full across pages, and committed as a whole (%i ms each)', (tookMs) => {
    marbles(({ flush }) => {
      const { workInBatches } = workshop(100);
      const store = new PlainStore();
      const { batches, handle } = batchWorker(tookMs);
      const batch = { size: 25, withinMs: 500 };
      const seen = observe(workInBatches(handle, { store, name, maxPageSize: 10, batch }).pipe(until(20_000)));
      flush();
      expect(batches.flat()).toEqual(upTo(100));
      expect(sizes(batches)).toEqual([25, 25, 25, 25]);
      expect(offsets(store.saves)).toEqual([0, 25, 50, 75, 100]);
      expect(seen.values.at(-1)).toMatchObject({ offset: 100, isCaughtUp: true });
    });
  });

  it.each([
    [5, 10],
    [5, 0],
    [0, 0],
  ])('are several of a page (that takes %i ms, and each batch %i)', (latencyMs, tookMs) => {
    marbles(({ flush }) => {
      const { workInBatches } = workshop(50, { latencyMs });
      const { batches, handle } = batchWorker(tookMs);
      observe(workInBatches(handle, { batch: { size: 7, withinMs: 300 } }).pipe(until(5_000)));
      flush();
      expect(batches.flat()).toEqual(upTo(50));
      expect(sizes(batches)).toEqual([7, 7, 7, 7, 7, 7, 7, 1]);
    });
  });

  it('wait for more only so long from their first update on', () => {
    marbles(({ flush }) => {
      const { ledger, workInBatches } = workshop();
      const times: number[] = [];
      const { batches, handle } = batchWorker();
      const seen = observe(
        workInBatches(
          (works) => {
            times.push(works.length);
            return handle(works);
          },
          { batch: { size: 100, withinMs: 1_000 } },
        ).pipe(until(20_000)),
      );
      // one every 300 ms
      for (const n of upTo(6))
        timer(n * 300).subscribe(() => {
          fill(ledger, n);
        });
      flush();
      expect(batches.flat()).toEqual(upTo(6));
      expect(sizes(batches)).toEqual([4, 2]);
      const at = seen.values.flatMap(({ handled }, i) => (handled > 0 ? [seen.times[i] ?? 0] : []));
      expect(at[0]).toBeGreaterThanOrEqual(1_300);
      expect(at[0]).toBeLessThan(1_350);
    });
  });

  it('are handed over before an error of the feed', () => {
    marbles(({ flush }) => {
      const isLate = ({ body }: Asked): boolean => Number(body['beginExclusive']) >= 20;
      const { workInBatches } = workshop(40, {
        fault: (asked) => (isLate(asked) ? failed(400, canton('INVALID_ARGUMENT', 8)) : undefined),
      });
      const store = new PlainStore();
      const { batches, handle } = batchWorker(10);
      const batch = { size: 15, withinMs: 60_000 };
      const seen = observe(workInBatches(handle, { store, name, maxPageSize: 10, batch }));
      flush();
      expect(batches.flat()).toEqual(upTo(20));
      expect(store.cursor).toMatchObject({ offset: 20 });
      expect(seen.values.at(-1)).toMatchObject({ offset: 20, handled: 5 });
      expect(seen.error).toMatchObject({ _tag: 'ApiError' });
      expect(seen.endedAt).toBeLessThan(1_000);
    });
  });

  it('of a processor that is stopped are not followed by an error of the feed behind them', () => {
    marbles(({ flush }) => {
      const { ledger, workInBatches } = workshop(5);
      ledger.append(6, { update: { Transaction: { value: { offset: 6 } } } });
      const store = new PlainStore();
      const controller = new AbortController();
      const handle = (): unknown => {
        timer(50).subscribe(() => {
          controller.abort();
        });
        return timer(100);
      };
      const options = { store, name, batch: { size: 2, withinMs: 10 }, signal: controller.signal };
      const seen = observe(workInBatches(handle, options));
      flush();
      expect(seen).toMatchObject({ error: undefined, completed: true });
      expect(store.cursor).toMatchObject({ offset: 2 });
    });
  });

  it('are handed over at once where the request ends', () => {
    marbles(({ flush }) => {
      const { workInBatches } = workshop(40);
      const { batches, handle } = batchWorker(10);
      const batch = { size: 15, withinMs: 60_000 };
      const seen = observe(workInBatches(handle, { batch }, { endInclusive: 20 }));
      flush();
      expect(sizes(batches)).toEqual([15, 5]);
      expect(seen).toMatchObject({ completed: true, error: undefined });
      expect(seen.endedAt).toBeLessThan(1_000);
    });
  });

  it('that fail are handed over once more, one at a time, and only what fails alone is given up', () => {
    marbles(({ flush }) => {
      const { workInBatches, client } = workshop(20);
      const store = new PlainStore();
      const { batches, handle } = batchWorker();
      const told = observe(client.diagnostics$);
      const fails = (works: readonly Work[]): unknown => {
        void handle(works);
        return works.some(({ offset }) => offset === 7) ? throwError(() => new Error('mine')) : undefined;
      };
      const batch = { size: 5, withinMs: 100 };
      const handlerRetry = { giveUpAfterMs: 0 };
      observe(workInBatches(fails, { store, name, batch, handlerRetry, onPoison: 'skip' }).pipe(until(5_000)));
      flush();
      expect(batches.map((all) => [all.at(0), all.length])).toEqual([
        [1, 5],
        [6, 5],
        [6, 1],
        [7, 1],
        [8, 1],
        [9, 1],
        [10, 1],
        [11, 5],
        [16, 5],
      ]);
      expect(offsets(store.saves)).toEqual([0, 5, 6, 7, 8, 9, 10, 15, 20]);
      expect(told.values.filter(({ _tag }) => _tag === 'UpdateSkipped')).toMatchObject([{ offset: 7, attempts: 1 }]);
    });
  });

  it('hold what is selected; nothing is handed over of a batch of which nothing is', () => {
    marbles(({ flush }) => {
      const { workInBatches } = workshop(20);
      const store = new PlainStore();
      const { batches, handle } = batchWorker();
      const select = ({ offset }: Work): boolean => offset > 7;
      observe(workInBatches(handle, { store, name, select, batch: { size: 5, withinMs: 100 } }).pipe(until(5_000)));
      flush();
      expect(sizes(batches)).toEqual([3, 5, 5]);
      expect(store.cursor).toMatchObject({ offset: 20 });
    });
  });
});
