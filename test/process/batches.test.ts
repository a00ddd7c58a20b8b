import { describe, expect, it } from '@jest/globals';
import { throwError, timer } from 'rxjs';
import type { Work, HandlerResult } from '../../src/process/ProcessOptions.js';
import { observe, offsets } from '../helpers/observe.js';
import type { ServiceRequest } from '../helpers/scripted.js';
import { fill, upTo } from '../helpers/world.js';
import { marbles } from '../helpers/time.js';
import { errorBody, errorReply } from '../helpers/wire.js';
import { mockPlatform, name, PlainStore, until, processWorld } from './support.js';

mockPlatform();

/** A handler that takes some milliseconds for a batch, and records the batches. */
function recordBatches(durationMs = 0) {
  const batches: number[][] = [];
  const handle = (works: readonly Work[]): HandlerResult => {
    batches.push(offsets(works));
    return durationMs === 0 ? undefined : timer(durationMs);
  };
  return { batches, handle };
}

const sizes = (batches: readonly (readonly number[])[]): number[] => batches.map(({ length }) => length);

describe('batches', () => {
  it.each([0, 30])('are full across pages, and committed as a whole (%i ms each)', (durationMs) => {
    marbles(({ flush }) => {
      const { processBatches } = processWorld(100);
      const store = new PlainStore();
      const { batches, handle } = recordBatches(durationMs);
      const batch = { size: 25, withinMs: 500 };
      const seen = observe(processBatches(handle, { store, name, maxPageSize: 10, batch }).pipe(until(20_000)));
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
  ])('divide a page (each page takes %i ms, each batch %i)', (latencyMs, durationMs) => {
    marbles(({ flush }) => {
      const { processBatches } = processWorld(50, { latencyMs });
      const { batches, handle } = recordBatches(durationMs);
      observe(processBatches(handle, { batch: { size: 7, withinMs: 300 } }).pipe(until(5_000)));
      flush();
      expect(batches.flat()).toEqual(upTo(50));
      expect(sizes(batches)).toEqual([7, 7, 7, 7, 7, 7, 7, 1]);
    });
  });

  it('wait for more updates until their first one has waited long enough', () => {
    marbles(({ flush }) => {
      const { ledger, processBatches } = processWorld();
      const times: number[] = [];
      const { batches, handle } = recordBatches();
      const seen = observe(
        processBatches(
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

  it('are handled before an error of the feed', () => {
    marbles(({ flush }) => {
      const isLate = ({ body }: ServiceRequest): boolean => Number(body['beginExclusive']) >= 20;
      const { processBatches } = processWorld(40, {
        fault: (request) => (isLate(request) ? errorReply(400, errorBody('INVALID_ARGUMENT', 8)) : undefined),
      });
      const store = new PlainStore();
      const { batches, handle } = recordBatches(10);
      const batch = { size: 15, withinMs: 60_000 };
      const seen = observe(processBatches(handle, { store, name, maxPageSize: 10, batch }));
      flush();
      expect(batches.flat()).toEqual(upTo(20));
      expect(store.cursor).toMatchObject({ offset: 20 });
      expect(seen.values.at(-1)).toMatchObject({ offset: 20, handled: 5 });
      expect(seen.error).toMatchObject({ _tag: 'ApiError' });
      expect(seen.endedAt).toBeLessThan(1_000);
    });
  });

  it('of a stopped processor are not followed by an error of the feed after them', () => {
    marbles(({ flush }) => {
      const { ledger, processBatches } = processWorld(5);
      ledger.append(6, { update: { Transaction: { value: { offset: 6 } } } });
      const store = new PlainStore();
      const controller = new AbortController();
      const handle = (): HandlerResult => {
        timer(50).subscribe(() => {
          controller.abort();
        });
        return timer(100);
      };
      const options = { store, name, batch: { size: 2, withinMs: 10 }, signal: controller.signal };
      const seen = observe(processBatches(handle, options));
      flush();
      expect(seen).toMatchObject({ error: undefined, completed: true });
      expect(store.cursor).toMatchObject({ offset: 2 });
    });
  });

  it('are handled at once at the end of the request', () => {
    marbles(({ flush }) => {
      const { processBatches } = processWorld(40);
      const { batches, handle } = recordBatches(10);
      const batch = { size: 15, withinMs: 60_000 };
      const seen = observe(processBatches(handle, { batch }, { endInclusive: 20 }));
      flush();
      expect(sizes(batches)).toEqual([15, 5]);
      expect(seen).toMatchObject({ completed: true, error: undefined });
      expect(seen.endedAt).toBeLessThan(1_000);
    });
  });

  it('that fail are repeated one update at a time, and only the update that fails alone is skipped', () => {
    marbles(({ flush }) => {
      const { processBatches, client } = processWorld(20);
      const store = new PlainStore();
      const { batches, handle } = recordBatches();
      const diagnostics = observe(client.diagnostics$);
      const fails = (works: readonly Work[]): HandlerResult => {
        void handle(works);
        return works.some(({ offset }) => offset === 7) ? throwError(() => new Error('mine')) : undefined;
      };
      const batch = { size: 5, withinMs: 100 };
      const handlerRetry = { giveUpAfterMs: 0 };
      observe(processBatches(fails, { store, name, batch, handlerRetry, onPoison: 'skip' }).pipe(until(5_000)));
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
      expect(diagnostics.values.filter(({ _tag }) => _tag === 'UpdateSkipped')).toMatchObject([
        { offset: 7, attempts: 1 },
      ]);
    });
  });

  it('have only selected updates, and the handler gets no empty batch', () => {
    marbles(({ flush }) => {
      const { processBatches } = processWorld(20);
      const store = new PlainStore();
      const { batches, handle } = recordBatches();
      const select = ({ offset }: Work): boolean => offset > 7;
      observe(processBatches(handle, { store, name, select, batch: { size: 5, withinMs: 100 } }).pipe(until(5_000)));
      flush();
      expect(sizes(batches)).toEqual([3, 5, 5]);
      expect(store.cursor).toMatchObject({ offset: 20 });
    });
  });
});
