import { describe, expect, it } from '@jest/globals';
import { asyncScheduler, concatMap, throwError, timer } from 'rxjs';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import { logTo } from '../../src/diagnostics/logTo.js';
import { CursorError, StoreError } from '../../src/errors/process.js';
import type { HandlerResult } from '../../src/process/ProcessOptions.js';
import { withoutText } from '../helpers/thrown.js';
import { upTo } from '../helpers/world.js';
import { mockPlatform, name, PlainStore, run, type RunOptions, stopProcessAt } from './support.js';
import { MemoryTransactions } from './transactionalStore.js';

mockPlatform();

const mine = new Error('mine');
const throws = (error: Error) => (): never => {
  throw error;
};
const ways: readonly (readonly [string, () => HandlerResult])[] = [
  ['throws', throws(mine)],
  ['errors', () => throwError(() => mine)],
  ['errors later', () => timer(10).pipe(concatMap(() => throwError(() => mine)))],
];

/** Fails for some updates, and handles the others. */
const failFor =
  (offsets: readonly number[], fail: () => HandlerResult): NonNullable<RunOptions['handle']> =>
  (update, record) =>
    offsets.includes(update.offset) ? fail() : record(update);

const noRetry = { giveUpAfterMs: 0 };
const withTag = (diagnostics: readonly Diagnostic[], tag: Diagnostic['_tag']): readonly Diagnostic[] =>
  diagnostics.filter(({ _tag }) => _tag === tag);

describe('a handler that fails', () => {
  it('has the whole time for each update, also for several of a page', () => {
    const failedSince = new Map<number, number>();
    const { error, handled } = run({
      handle: (update, record) => {
        const since = failedSince.get(update.offset) ?? asyncScheduler.now();
        failedSince.set(update.offset, since);
        return update.offset > 4 && asyncScheduler.now() - since < 700 ? throwError(() => mine) : record(update);
      },
      options: {
        handlerRetry: { baseDelayMs: 1, maxDelayMs: 1, giveUpAfterMs: 1_000 },
        commitEvery: { updates: 1 },
      },
    });
    expect(error).toBeUndefined();
    expect(handled).toEqual(upTo(10));
  });

  describe.each(withoutText)('with %s', (_, thrown) => {
    const fail = (): never => {
      throw thrown;
    };
    const options = { handlerRetry: noRetry, commitEvery: { updates: 1 } };

    it('ends with a HandlerError, which says where', () => {
      const { error } = run({ handle: failFor([5], fail), options });
      expect(error).toMatchObject({ _tag: 'HandlerError', offset: 5 });
    });

    it.each(['skip', 'park'] as const)('may be left out: %s', (onHandlerFailure) => {
      const store = new PlainStore();
      const { error, handled } = run({
        store,
        handle: failFor([5], fail),
        options: { ...options, onHandlerFailure },
      });
      expect(error).toBeUndefined();
      expect(handled).toEqual(upTo(10).filter((offset) => offset !== 5));
      const parked = onHandlerFailure === 'park' ? [expect.objectContaining({ reason: expect.any(String) })] : [];
      expect([...store.parkedUpdates.values()]).toEqual(parked);
    });
  });

  it.each(ways)('for a while is retried, and no update is lost: it %s', (_, fail) => {
    let failures = 0;
    const { handled, diagnostics } = run({
      handle: (update, record) => (update.offset === 5 && (failures += 1) <= 4 ? fail() : record(update)),
    });
    expect(handled).toEqual(upTo(10));
    expect(withTag(diagnostics, 'HandlerFailed')).toMatchObject(
      [1, 2, 3, 4].map((n) => ({ offset: 5, failures: n, delayMs: 125 * 2 ** (n - 1), cause: mine })),
    );
  });

  describe.each(['stop', 'skip'] as const)(
    'once is retried, with onHandlerFailure %s, although',
    (onHandlerFailure) => {
      it.each([
        ['its process was stopped during the call', 500, 1_000],
        ['the call took all of the time', Infinity, 61_000],
      ])('%s', (_, stopAt, failsAfterMs) => {
        let failures = 0;
        const { error, handled } = run({
          prepare: () => {
            stopProcessAt(300_000, ...(stopAt < Infinity ? [stopAt] : []));
          },
          handle: (update, record) =>
            update.offset === 1 && (failures += 1) === 1
              ? timer(failsAfterMs).pipe(concatMap(() => throwError(() => mine)))
              : record(update),
          options: { onHandlerFailure },
        });
        expect(error).toBeUndefined();
        expect(handled).toEqual(upTo(10));
      });
    },
  );

  it.each(ways)(
    'ends the processor after giveUpAfterMs, with the updates before it committed: it %s (G43)',
    (_, fail) => {
      let attempts = 0;
      const { handled, store, error, seen } = run({
        handle: failFor([5], () => {
          attempts += 1;
          return fail();
        }),
        options: { handlerRetry: { baseDelayMs: 1_000, maxDelayMs: 1_000, giveUpAfterMs: 5_000 } },
      });
      expect(handled).toEqual([1, 2, 3, 4]);
      expect(store.cursor).toMatchObject({ offset: 4 });
      expect(error).toMatchObject({ _tag: 'HandlerError', offset: 5, updateId: '12205', attempts, cause: mine });
      expect(seen.endedAt).toBeLessThanOrEqual(5_100);
      expect(attempts).toBeGreaterThanOrEqual(10);
    },
  );

  it.each(['skip', 'park'] as const)(
    'has its update skipped or parked, and the others handled: %s (G43)',
    (onHandlerFailure) => {
      const { error, handled, store, diagnostics } = run({
        handle: failFor([1, 5, 10], () => throwError(() => mine)),
        options: { onHandlerFailure, handlerRetry: noRetry },
      });
      expect(error).toBeUndefined();
      expect(handled).toEqual([2, 3, 4, 6, 7, 8, 9]);
      expect(store.cursor).toMatchObject({ offset: 10 });
      expect(withTag(diagnostics, onHandlerFailure === 'park' ? 'UpdateParked' : 'UpdateSkipped')).toMatchObject(
        [1, 5, 10].map((offset) => ({ offset, attempts: 1, cause: mine })),
      );
      expect([...store.parkedUpdates.keys()]).toEqual(onHandlerFailure === 'park' ? [1, 5, 10] : []);
      const update = { update: { Transaction: {} } };
      if (onHandlerFailure === 'park')
        expect(store.parkedUpdates.get(5)).toMatchObject({
          ...{ offset: 5, updateId: '12205', reason: 'mine', attempts: 1 },
          update,
        });
    },
  );

  it.each(['stop', 'skip', 'park'] as const)(
    'with a StoreError is retried like a store: onHandlerFailure %s',
    (onHandlerFailure) => {
      const { error, handled, store } = run({
        handle: (update, record) => {
          if (update.offset === 5 && asyncScheduler.now() < 120_000) throw new StoreError('publish', name, 'down');
          return record(update);
        },
        options: { onHandlerFailure, handlerRetry: { giveUpAfterMs: 1_000 } },
        ms: 200_000,
      });
      expect(error).toBeUndefined();
      // the updates before it were committed first
      expect(handled).toEqual(upTo(10));
      expect(store.parkedUpdates.size).toBe(0);
    },
  );

  it('with a StoreError for longer than the retry policy allows ends the processor with it', () => {
    const { error, seen } = run({
      handle: throws(new StoreError('publish', name, 'down')),
      options: { onHandlerFailure: 'skip', storeRetry: { giveUpAfterMs: 20_000 } },
    });
    expect(error).toMatchObject({ _tag: 'StoreError', operation: 'publish' });
    expect(seen.endedAt).toBeGreaterThanOrEqual(20_000);
    expect(seen.endedAt).toBeLessThan(21_000);
  });

  it('with a StoreError while the processor is being stopped lets it complete', () => {
    const failLater = (): HandlerResult =>
      timer(1_000).pipe(concatMap(() => throwError(() => new StoreError('publish', name, 'down'))));
    const options = { commitEvery: { updates: 1 } };
    const { seen, store } = run({ handle: failFor([5], failLater), options, abortAt: 900 });
    expect(seen).toMatchObject({ error: undefined, completed: true });
    expect(store.cursor).toMatchObject({ offset: 4 });
  });

  it.each([
    new CursorError('ledger', name, 'another one'),
    Object.assign(new Error('gone'), { name: 'Mine', endsProcessor: true }),
  ])('with an error that ends the processor is called once: %s', (thrown) => {
    const failed: number[] = [];
    const { error, handled, store } = run({
      handle: (update, record) => {
        if (update.offset < 5) return record(update);
        failed.push(update.offset);
        throw thrown;
      },
      options: { onHandlerFailure: 'skip' },
    });
    expect(error).toBe(thrown);
    expect(failed).toEqual([5]);
    expect(handled).toEqual(upTo(4));
    expect(store.cursor).toMatchObject({ offset: 4 });
  });

  it('in a transaction has the updates before it rolled back, and handled again without it', () => {
    const { store } = run({
      store: new MemoryTransactions(),
      handle: failFor([5], throws(mine)),
      options: { onHandlerFailure: 'park', handlerRetry: { giveUpAfterMs: 3_000 } },
    });
    expect(store.committed.effects).toEqual([1, 2, 3, 4, 6, 7, 8, 9, 10]);
    expect([...store.committed.parked.keys()]).toEqual([5]);
    expect(store.cursor).toMatchObject({ offset: 10 });
    expect(store.maxOpen).toBe(1);
  });

  it('in a transaction has its own effects rolled back, and is called once if giveUpAfterMs is 0', () => {
    const { store, error, started } = run({
      store: new MemoryTransactions(),
      handle: (update, record) => {
        void record(update);
        return update.offset === 5 ? throwError(() => mine) : undefined;
      },
      options: { handlerRetry: noRetry },
    });
    expect(error).toMatchObject({ _tag: 'HandlerError', offset: 5, attempts: 1 });
    expect(store.committed.effects).toEqual([1, 2, 3, 4]);
    expect(started.filter((offset) => offset === 5)).toHaveLength(1);
  });
});

/** An update without required fields. */
const broken = (offset: number): object => ({ update: { Transaction: { value: { offset } } } });

describe('an update that does not decode', () => {
  it.each(['skip', 'park', 'stop'] as const)('is treated like one that cannot be handled: %s', (onHandlerFailure) => {
    const { handled, store, error } = run({
      updates: 3,
      prepare: ({ ledger }) => {
        for (const offset of [4, 6]) ledger.append(offset, broken(offset));
      },
      options: { onHandlerFailure },
    });
    expect(handled).toEqual([1, 2, 3]);
    // what has no ID would be read again after the update before it, and so is no proof
    const expected = onHandlerFailure === 'stop' ? { offset: 3, lastUpdate: { offset: 3 } } : { offset: 6 };
    expect(store.cursor).toMatchObject(expected);
    expect([...store.parkedUpdates.keys()]).toEqual(onHandlerFailure === 'park' ? [4, 6] : []);
    if (onHandlerFailure === 'stop') expect(error).toMatchObject({ _tag: 'DecodeError', offset: 4 });
    else expect(error).toBeUndefined();
    const reason: unknown = expect.stringContaining('decode');
    if (onHandlerFailure === 'park')
      expect(store.parkedUpdates.get(4)).toMatchObject({ offset: 4, attempts: 1, reason });
  });
});

describe('a mistake in a handler', () => {
  const mistake = new TypeError("Cannot read properties of undefined (reading 'id')");

  it('ends the processor at once: a retry would repeat it', () => {
    const lines: string[] = [];
    const log = (line: string) => lines.push(line);
    const { error } = run({
      handle: failFor([5], throws(mistake)),
      prepare: ({ client }) => client.diagnostics$.subscribe(logTo({ warn: log, error: log, info: () => undefined })),
      ms: 1_000,
    });
    expect(error).toMatchObject({ _tag: 'HandlerError', offset: 5, attempts: 1, cause: mistake });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/Cannot read properties of undefined.* at .*handlerFailures\.test\.ts/);
  });

  it('parks the update at once', () => {
    const { diagnostics } = run({
      handle: failFor([5], throws(mistake)),
      options: { onHandlerFailure: 'park' },
      ms: 1_000,
    });
    expect(withTag(diagnostics, 'UpdateParked')).toMatchObject([{ attempts: 1 }]);
  });

  it.each([
    ['a fetch without a response', new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') }), 'stop'],
    ['a fetch of a browser', new TypeError('Failed to fetch'), 'stop'],
    ['an update that would be skipped, and gone', mistake, 'skip'],
  ] as const)('is retried if it is %s', (_, error, onHandlerFailure) => {
    const { diagnostics } = run({ handle: failFor([5], throws(error)), options: { onHandlerFailure }, ms: 1_000 });
    expect(withTag(diagnostics, 'HandlerFailed')[0]).toMatchObject({ failures: 1 });
  });
});
