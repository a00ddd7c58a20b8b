import { describe, expect, it } from '@jest/globals';
import { asyncScheduler, concatMap, EMPTY, lastValueFrom, map, of, Subject, throwError, timer } from 'rxjs';
import { CursorError } from '../../src/errors/process.js';
import type { Work } from '../../src/process/ProcessOptions.js';
import { effort } from '../helpers/effort.js';
import { offsets } from '../helpers/observe.js';
import { withoutText } from '../helpers/thrown.js';
import { fill, upTo } from '../helpers/world.js';
import { mockPlatform, name, PlainStore, processWorld, run } from './support.js';
import { holdingBy, MemoryTransactions, type Tx } from './transactionalStore.js';

mockPlatform();

const full = () => throwError(() => new Error('ENOSPC'));

describe('a store that fails', () => {
  it.each(['load', 'save'] as const)('for a minute is retried, and nothing is handled twice: %s (G42)', (what) => {
    const store = new PlainStore((call, n) =>
      asyncScheduler.now() < 60_000 && call === what && (what === 'load' || n > 1) ? full() : undefined,
    );
    const { error, handled } = run({ store, options: { commitEvery: { updates: 3 } }, ms: 200_000 });
    expect(error).toBeUndefined();
    expect(handled).toEqual(upTo(10));
    expect(offsets(store.saves)).toEqual([0, 3, 6, 9, 10]);
  });

  it.each(withoutText)('is retried, whatever it fails with: %s (G42)', (_, thrown) => {
    const { error, handled } = run({
      store: new PlainStore((_call, n) => (n === 1 ? throwError(() => thrown) : undefined)),
      options: { commitEvery: { updates: 3 } },
    });
    expect(error).toBeUndefined();
    expect(handled).toEqual(upTo(10));
  });

  it.each([
    ['load', 1, 0],
    ['save', 2, 10],
    ['park', 1, 1],
  ] as const)('permanently ends the processor after giveUpAfterMs: %s (G42)', (what, from, calls) => {
    const { error, seen, started } = run({
      store: new PlainStore((call, n) => (call === what && n >= from ? full() : undefined)),
      handle: (update, record) => {
        void record(update);
        return what === 'park' ? throwError(() => new Error('mine')) : undefined;
      },
      options: { retry: { giveUpAfterMs: 60_000 }, onHandlerFailure: 'park', handlerRetry: { giveUpAfterMs: 0 } },
    });
    expect(error).toMatchObject({
      _tag: 'StoreError',
      operation: what,
      processor: name,
      reason: 'ENOSPC',
      retried: { times: expect.any(Number) },
    });
    expect(seen.endedAt).toBeLessThan(65_000);
    expect(started).toHaveLength(calls);
  });

  it('at every commit ends the processor after giveUpAfterMs', () => {
    const store = new MemoryTransactions((n) => of(n > 1 ? 'failed' : 'committed'));
    const { error, seen } = run({ store, options: { storeRetry: { giveUpAfterMs: 60_000 } } });
    expect(error).toMatchObject({ _tag: 'StoreError', operation: 'commit', retried: {} });
    expect(seen.endedAt).toBeLessThan(65_000);
    expect(store.holders).toBe(0);
    expect(store.committed.effects).toEqual([]);
  });

  it('by not answering is retried after storeTimeoutMs (G42)', () => {
    const store = new PlainStore((call, n) => (call === 'save' && n === 2 ? timer(1e9) : undefined));
    const { handled, seen } = run({ store, options: { storeTimeoutMs: 700 }, ms: 3_000 });
    expect(handled).toEqual(upTo(10));
    const at = seen.times[seen.values.findIndex(({ offset }) => offset === 10)];
    expect(at).toBeGreaterThan(700);
    expect(at).toBeLessThan(1_000);
  });

  it.each([
    ['save', 2, new CursorError('conflict', name, 'another process saved it')],
    ['load', 1, Object.assign(new Error('gone'), { endsProcessor: true })],
  ] as const)('with an error that ends the processor is called once: %s', (what, at, thrown) => {
    const store = new PlainStore((call, n) => (call === what && n >= at ? throwError(() => thrown) : undefined));
    const { error, seen } = run({ store });
    expect(error).toBe(thrown);
    expect(store.calls[what]).toBe(at);
    expect(seen.endedAt).toBeLessThan(100);
  });

  it('by losing the name makes the processor resume from the last commit', () => {
    const lost$ = new Subject<unknown>();
    const store = new MemoryTransactions(undefined, lost$);
    const { error } = run({
      updates: 50,
      prepare: () => {
        for (const ms of [333, 777, 1_234])
          timer(ms).subscribe(() => {
            lost$.next(true);
          });
      },
      store,
      handlerMs: 20,
      options: { commitEvery: { updates: 3 } },
    });
    expect(error).toBeUndefined();
    expect(store.committed.effects).toEqual(upTo(50));
    expect(store.transactionCount).toBeGreaterThan(19);
    expect(store).toMatchObject({ holders: 0, maxHolders: 1, maxOpen: 1 });
  });

  it('by losing the name while a handler runs that is not awaited calls it no more in that transaction', () => {
    const lost$ = new Subject<unknown>();
    const store = new MemoryTransactions(undefined, lost$);
    let calls = 0;
    const { handled } = run({
      store,
      handle: (update, record) => {
        void record(update);
        if ((calls += 1) === 3) lost$.next(true);
        return undefined;
      },
      request: { endInclusive: 10 },
    });
    expect(handled).toEqual([1, 2, 3, ...upTo(10)]);
    expect(store.committed.effects).toEqual(upTo(10));
  });

  it('by losing the name while a Promise is awaited calls the handler no more in that transaction', async () => {
    const lost$ = new Subject<unknown>();
    const { process } = processWorld(20);
    const store = new MemoryTransactions(undefined, lost$);
    const lostIn: Tx[] = [];
    const callsAfterLoss: number[] = [];
    const handle = async ({ offset }: Work, tx: Tx): Promise<void> => {
      if (lostIn.includes(tx)) callsAfterLoss.push(offset);
      await Promise.resolve();
      tx.effects.push(offset);
      if (offset % 8 !== 5 || lostIn.length >= 3) return;
      lostIn.push(tx);
      lost$.next(true);
    };
    await lastValueFrom(process(handle, { store, name, storeRetry: { baseDelayMs: 1 } }, { endInclusive: 20 }));
    expect(lostIn).toHaveLength(3);
    expect(callsAfterLoss).toEqual([]);
    expect(store.committed.effects).toEqual(upTo(20));
  });

  const failovers = effort(5, 20);
  const failover = () => timer(3_600_000).pipe(concatMap(() => throwError(() => new Error('failover'))));

  it.each([
    ['from time to time while another processor works does not end the one that waits', failovers, failover],
    [
      'every two minutes while another processor works does not end the one that waits, as many as there are',
      200,
      () => timer(120_000).pipe(concatMap(() => throwError(() => new Error('failover')))),
    ],
    ['by completing a hold without the name is retried', 2, () => EMPTY],
  ] as const)('%s', (_, failures, fail) => {
    const store = new MemoryTransactions();
    let holds = 0;
    const waiting = holdingBy(store, () => ((holds += 1) > failures ? store.hold() : fail()));
    expect(run({ store: waiting, ms: (failovers + 10) * 3_600_000 }).error).toBeUndefined();
    expect(store.committed.effects).toEqual(upTo(10));
  });

  it('at every attempt to hold the name ends the processor after giveUpAfterMs', () => {
    const fail = () => timer(30_000).pipe(concatMap(() => throwError(() => new Error('no answer'))));
    const { error } = run({ store: holdingBy(new MemoryTransactions(), fail), ms: 30 * 3_600_000 });
    expect(error).toMatchObject({ _tag: 'StoreError', operation: 'hold', retried: {} });
  });

  it.each([100, 2_000, 20_000, 61_000])(
    'at every save ends the processor after giveUpAfterMs, also while updates arrive every %i ms',
    (everyMs) => {
      const ms = effort(400_000, 1_800_000);
      const { error, seen } = run({
        updates: 3,
        prepare: ({ ledger }) => {
          for (const n of upTo(Math.ceil(ms / everyMs)))
            timer(n * everyMs).subscribe(() => {
              fill(ledger, 3 + n);
            });
        },
        store: new MemoryTransactions((n) => of(n > 2 ? 'failed' : 'committed')),
        ms,
      });
      expect(error).toMatchObject({ _tag: 'StoreError', operation: 'commit', retried: {} });
      expect(seen.endedAt).toBeLessThan(500_000);
    },
  );

  it('after the processor was stopped is not retried: what failed is handled by the next run', () => {
    const store = new MemoryTransactions((n) => timer(100).pipe(map(() => (n > 1 ? 'failed' : 'committed'))));
    const { error, seen } = run({ updates: 50, store, abortAt: 150 });
    expect(error).toBeUndefined();
    expect(seen.endedAt).toBeLessThan(300);
    expect(store.transactionCount).toBe(2);
  });
});
