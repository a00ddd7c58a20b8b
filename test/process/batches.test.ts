import { describe, expect, it } from '@jest/globals';
import { throwError, timer } from 'rxjs';
import type { BatchProcessOptions, HandlerResult, Work } from '../../src/process/ProcessOptions.js';
import { observe, offsets } from '../helpers/observe.js';
import type { ServiceRequest } from '../helpers/scripted.js';
import { marbles } from '../helpers/time.js';
import { errorBody, errorReply } from '../helpers/wire.js';
import { fill, upTo, type WorldOptions } from '../helpers/world.js';
import { abortAfter, mockPlatform, name, PlainStore, type ProcessWorld, processWorld, until } from './support.js';

mockPlatform();

/** How {@link run} runs a processor. */
interface RunOptions extends Omit<BatchProcessOptions, 'batch' | 'name' | 'store'> {
  readonly updates?: number;
  readonly world?: WorldOptions;
  /** Changes the ledger before the processor begins, or plans that. */
  readonly prepare?: (world: ProcessWorld) => void;
  readonly maxPageSize?: number;
  readonly endInclusive?: number;
  /** How long the handler takes for a batch. */
  readonly handlerMs?: number;
  /** Handles a batch in place of that. */
  readonly handle?: (works: readonly Work[]) => HandlerResult;
  /** When the signal is aborted. */
  readonly abortAt?: number;
  /** When the processor is unsubscribed. */
  readonly ms?: number;
}

/** Runs a processor with batches of a size, which wait for some milliseconds, and returns what it did. */
function run(size: number, withinMs: number, how: RunOptions = {}) {
  const { updates = 20, world = {}, prepare, endInclusive, handlerMs = 0, abortAt, ms = 100_000, ...more } = how;
  const { handle = () => (handlerMs === 0 ? undefined : timer(handlerMs)), ...options } = more;
  return marbles(({ flush }) => {
    const made = processWorld(updates, world);
    prepare?.(made);
    const store = new PlainStore();
    const batches: number[][] = [];
    const diagnostics = observe(made.client.diagnostics$);
    const handler = (works: readonly Work[]): HandlerResult => {
      batches.push(offsets(works));
      return handle(works);
    };
    const signal = abortAt === undefined ? {} : { signal: abortAfter(abortAt) };
    const all = { store, name, batch: { size, withinMs }, ...signal, ...options };
    const request = endInclusive === undefined ? {} : { endInclusive };
    const seen = observe(made.processBatches(handler, all, request).pipe(until(ms)));
    flush();
    const sizes = batches.map(({ length }) => length);
    return { batches, sizes, handled: batches.flat(), store, seen, diagnostics: diagnostics.values };
  });
}

describe('batches', () => {
  it.each([0, 30])('are full across pages, and committed as a whole (%i ms each)', (handlerMs) => {
    const { handled, sizes, store, seen } = run(25, 500, { updates: 100, handlerMs, maxPageSize: 10 });
    expect(handled).toEqual(upTo(100));
    expect(sizes).toEqual([25, 25, 25, 25]);
    expect(offsets(store.saves)).toEqual([0, 25, 50, 75, 100]);
    expect(seen.values.at(-1)).toMatchObject({ offset: 100, isCaughtUp: true });
  });

  it.each([
    [5, 10],
    [5, 0],
    [0, 0],
  ])('divide a page (each page takes %i ms, each batch %i)', (latencyMs, handlerMs) => {
    const { handled, sizes } = run(7, 300, { updates: 50, world: { latencyMs }, handlerMs });
    expect(handled).toEqual(upTo(50));
    expect(sizes).toEqual([7, 7, 7, 7, 7, 7, 7, 1]);
  });

  it('wait for more updates until their first one has waited long enough', () => {
    const { handled, sizes, seen } = run(100, 1_000, {
      updates: 0,
      prepare: ({ ledger }) => {
        for (const n of upTo(6))
          timer(n * 300).subscribe(() => {
            fill(ledger, n);
          });
      },
    });
    expect(handled).toEqual(upTo(6));
    expect(sizes).toEqual([4, 2]);
    const at = seen.times[seen.values.findIndex((committed) => committed.handled > 0)];
    expect(at).toBeGreaterThanOrEqual(1_300);
    expect(at).toBeLessThan(1_350);
  });

  it('are handled before an error of the feed', () => {
    const isLate = ({ body }: ServiceRequest): boolean => Number(body['beginExclusive']) >= 18;
    const { handled, store, seen } = run(15, 60_000, {
      updates: 40,
      world: { fault: (request) => (isLate(request) ? errorReply(400, errorBody('INVALID_ARGUMENT', 8)) : undefined) },
      handlerMs: 10,
      maxPageSize: 10,
    });
    expect(handled).toEqual(upTo(19));
    expect(store.cursor).toMatchObject({ offset: 19 });
    expect(seen.values.at(-1)).toMatchObject({ offset: 19, handled: 4 });
    expect(seen.error).toMatchObject({ _tag: 'ApiError' });
    expect(seen.endedAt).toBeLessThan(1_000);
  });

  it('of a stopped processor are not followed by an error of the feed after them', () => {
    const { seen, store } = run(2, 10, {
      updates: 5,
      prepare: ({ ledger }) => {
        ledger.append(6, { update: { Transaction: { value: { offset: 6 } } } });
      },
      handlerMs: 100,
      abortAt: 70,
    });
    expect(seen).toMatchObject({ error: undefined, completed: true });
    expect(store.cursor).toMatchObject({ offset: 2 });
  });

  it('are handled at once at the end of the request', () => {
    const { sizes, seen } = run(15, 60_000, { updates: 40, handlerMs: 10, endInclusive: 20 });
    expect(sizes).toEqual([15, 5]);
    expect(seen).toMatchObject({ completed: true, error: undefined });
    expect(seen.endedAt).toBeLessThan(1_000);
  });

  it('that fail are repeated one update at a time, and only the update that fails alone is skipped', () => {
    const { batches, store, diagnostics } = run(5, 100, {
      handle: (works) => (works.some(({ offset }) => offset === 7) ? throwError(() => new Error('mine')) : undefined),
      handlerRetry: { giveUpAfterMs: 0 },
      onHandlerFailure: 'skip',
    });
    expect(batches.map((all) => `${String(all[0])}-${String(all.at(-1))}`)).toEqual([
      '1-5',
      '6-10',
      '6-6',
      '7-7',
      '8-8',
      '9-9',
      '10-10',
      '11-15',
      '16-20',
    ]);
    expect(offsets(store.saves)).toEqual([0, 5, 6, 7, 8, 9, 10, 15, 20]);
    const skipped = diagnostics.filter(({ _tag }) => _tag === 'UpdateSkipped');
    expect(skipped).toMatchObject([{ offset: 7, attempts: 1 }]);
  });

  it('have only selected updates, and the handler gets no empty batch', () => {
    const { sizes, store } = run(5, 100, { select: ({ offset }) => offset > 7 });
    expect(sizes).toEqual([3, 5, 5]);
    expect(store.cursor).toMatchObject({ offset: 20 });
  });
});
