import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { concatMap, EMPTY, map, of, Subject, throwError, timer, type Observable } from 'rxjs';
import { CursorError } from '../../src/errors/process.js';
import type { TransactionalStore, Transactions } from '../../src/process/CheckpointStore.js';
import type { Work } from '../../src/process/ProcessOptions.js';
import { marbles } from '../helpers/marbles.js';
import { observe, offsets } from '../helpers/observe.js';
import { fill, upTo } from '../helpers/world.js';
import { hashAtOnce, name, PlainStore, until, worker, workshop, type StoreFault } from './support.js';
import { effecting, MemoryTransactions, type Tx } from './transactionalStore.js';

beforeEach(() => {
  hashAtOnce();
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const mine = new Error('mine');
const ways: readonly (readonly [string, () => unknown])[] = [
  [
    'throws',
    () => {
      throw mine;
    },
  ],
  ['errors', () => throwError(() => mine)],
  ['errors later', () => timer(10).pipe(concatMap(() => throwError(() => mine)))],
];

describe('a handler that fails', () => {
  it.each(ways)('for a while is tried again, and nothing is lost: it %s', (_, fail) => {
    marbles(({ flush }) => {
      const { work, client } = workshop(10);
      const store = new PlainStore();
      const { handled, handle } = worker();
      const told = observe(client.diagnostics$);
      let failures = 0;
      observe(
        work((update) => (update.offset === 5 && (failures += 1) <= 4 ? fail() : handle(update)), {
          store,
          name,
        }).pipe(until(30_000)),
      );
      flush();
      expect(handled).toEqual(upTo(10));
      const tries = told.values.filter(({ _tag }) => _tag === 'HandlerFailed');
      expect(tries).toMatchObject(
        [1, 2, 3, 4].map((n) => ({ offset: 5, failures: n, delayMs: 125 * 2 ** (n - 1), cause: mine })),
      );
    });
  });

  it.each(ways)('ends the processor when its time is over, behind what was done: it %s', (_, fail) => {
    marbles(({ flush }) => {
      const { work, service } = workshop(10);
      const store = new PlainStore();
      const { handled, handle } = worker();
      let tries = 0;
      const times = { handlerRetry: { baseDelayMs: 1_000, maxDelayMs: 1_000, giveUpAfterMs: 5_000 } };
      const seen = observe(
        work(
          (update) => {
            if (update.offset !== 5) return handle(update);
            tries += 1;
            return fail();
          },
          { store, name, ...times },
        ),
      );
      flush();
      expect(handled).toEqual([1, 2, 3, 4]);
      expect(store.cursor).toMatchObject({ offset: 4 });
      expect(seen.error).toMatchObject({
        _tag: 'HandlerError',
        offset: 5,
        updateId: '12205',
        attempts: tries,
        cause: mine,
      });
      expect(seen.endedAt).toBeLessThanOrEqual(5_100);
      expect(tries).toBeGreaterThanOrEqual(10);
      expect(service.open).toBe(0);
    });
  });

  it('is not tried again at all where it may not be', () => {
    marbles(({ flush }) => {
      const handle = jest.fn(({ offset }: Work) => (offset === 5 ? throwError(() => mine) : undefined));
      const seen = observe(workshop(10).work(handle, { handlerRetry: { giveUpAfterMs: 0 } }));
      flush();
      expect(handle).toHaveBeenCalledTimes(5);
      expect(seen.error).toMatchObject({ _tag: 'HandlerError', offset: 5, attempts: 1 });
    });
  });

  it.each(['skip', 'park'] as const)('has its update dealt with, and the rest handled: %s', (onPoison) => {
    marbles(({ flush }) => {
      const { work, client } = workshop(10);
      const store = new PlainStore();
      const { handled, handle } = worker();
      const told = observe(client.diagnostics$);
      const options = { store, name, onPoison, handlerRetry: { giveUpAfterMs: 0 } } as const;
      const seen = observe(
        work((update) => ([1, 5, 10].includes(update.offset) ? throwError(() => mine) : handle(update)), options).pipe(
          until(1_000),
        ),
      );
      flush();
      expect(seen.error).toBeUndefined();
      expect(handled).toEqual([2, 3, 4, 6, 7, 8, 9]);
      expect(store.cursor).toMatchObject({ offset: 10 });
      const _tag = onPoison === 'park' ? 'UpdateParked' : 'UpdateSkipped';
      expect(told.values.filter((event) => event._tag === _tag)).toMatchObject(
        [1, 5, 10].map((offset) => ({ offset, attempts: 1, cause: mine })),
      );
      expect([...store.aside.keys()]).toEqual(onPoison === 'park' ? [1, 5, 10] : []);
      if (onPoison === 'park')
        expect(store.aside.get(5)).toMatchObject({
          offset: 5,
          updateId: '12205',
          reason: 'mine',
          attempts: 1,
          update: { update: { Transaction: {} } },
        });
    });
  });

  it('has what was done with it in a transaction rolled back, and redone without it', () => {
    marbles(({ flush }) => {
      const { work } = workshop(10);
      const store = new MemoryTransactions();
      const options = { store, name, onPoison: 'park', handlerRetry: { giveUpAfterMs: 3_000 } } as const;
      const fail = (offset: number): Observable<unknown> => (offset === 5 ? throwError(() => mine) : of(true));
      observe(work(effecting(fail), options).pipe(until(10_000)));
      flush();
      expect(store.committed.effects).toEqual([1, 2, 3, 4, 6, 7, 8, 9, 10]);
      expect([...store.committed.aside.keys()]).toEqual([5]);
      expect(store.cursor).toMatchObject({ offset: 10 });
      expect(store.mostOpen).toBe(1);
    });
  });

  it('has half of its work rolled back, and is tried once where it may not be tried again', () => {
    marbles(({ flush }) => {
      const store = new MemoryTransactions();
      const begun: number[] = [];
      const half = ({ offset }: Work, tx: Tx): unknown => {
        begun.push(offset);
        tx.effects.push(offset);
        return offset === 5 ? throwError(() => mine) : undefined;
      };
      const seen = observe(workshop(10).work(half, { store, name, handlerRetry: { giveUpAfterMs: 0 } }));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'HandlerError', offset: 5, attempts: 1 });
      expect(store.committed.effects).toEqual([1, 2, 3, 4]);
      expect(begun.filter((offset) => offset === 5)).toHaveLength(1);
    });
  });
});

/** An element without what an update must have. */
const broken = (offset: number): object => ({ update: { Transaction: { value: { offset } } } });

describe('an update that does not decode', () => {
  it.each(['skip', 'park', 'stop'] as const)('goes as others do that cannot be handled: %s', (onPoison) => {
    marbles(({ flush }) => {
      const { ledger, work } = workshop(3);
      ledger.append(4, broken(4));
      ledger.append(6, broken(6));
      const store = new PlainStore();
      const { handled, handle } = worker();
      const seen = observe(work(handle, { store, name, onPoison }).pipe(until(2_000)));
      flush();
      expect(handled).toEqual([1, 2, 3]);
      expect(store.cursor).toMatchObject({ offset: onPoison === 'stop' ? 3 : 6, lastUpdate: { offset: 3 } });
      expect([...store.aside.keys()]).toEqual(onPoison === 'park' ? [4, 6] : []);
      if (onPoison === 'stop') expect(seen.error).toMatchObject({ _tag: 'DecodeError', offset: 4 });
      else expect(seen.error).toBeUndefined();
      if (onPoison === 'park')
        expect(store.aside.get(4)).toMatchObject({ offset: 4, attempts: 1, reason: expect.stringContaining('decode') });
    });
  });
});

const failing =
  (what: 'load' | 'save' | 'park', from: number, to = Infinity): StoreFault =>
  (call, n) =>
    call === what && n >= from && n <= to ? throwError(() => new Error('ENOSPC')) : undefined;

describe('a store that fails', () => {
  it.each(['load', 'save'] as const)('for a minute is asked again, and nothing is handled twice: %s', (what) => {
    marbles(({ flush }) => {
      const { work } = workshop(10);
      let isDown = true;
      timer(60_000).subscribe(() => {
        isDown = false;
      });
      const store = new PlainStore((call, n) =>
        isDown && call === what && (what === 'load' || n > 1) ? throwError(() => new Error('ENOSPC')) : undefined,
      );
      const { handled, handle } = worker();
      const seen = observe(work(handle, { store, name, commitEvery: { updates: 3 } }).pipe(until(200_000)));
      flush();
      expect(seen.error).toBeUndefined();
      expect(handled).toEqual(upTo(10));
      expect(offsets(store.saves)).toEqual([0, 3, 6, 9, 10]);
    });
  });

  it.each(['load', 'save', 'park'] as const)('for good ends the processor when its time is over: %s', (what) => {
    marbles(({ flush }) => {
      const { work, service } = workshop(10);
      const store = new PlainStore(failing(what, what === 'save' ? 2 : 1));
      const { handled, handle } = worker();
      const begin = (update: Work): unknown => {
        void handle(update);
        return what === 'park' ? throwError(() => mine) : undefined;
      };
      const options = {
        store,
        name,
        retry: { giveUpAfterMs: 60_000 },
        onPoison: 'park',
        handlerRetry: { giveUpAfterMs: 0 },
      } as const;
      const seen = observe(work(begin, options));
      flush();
      expect(seen.error).toMatchObject({
        _tag: 'StoreError',
        operation: what,
        processor: name,
        reason: 'ENOSPC',
        retried: { times: expect.any(Number) },
      });
      expect(seen.endedAt).toBeLessThan(65_000);
      expect(service.open).toBe(0);
      expect(handled).toHaveLength({ load: 0, save: 10, park: 1 }[what]);
    });
  });

  it('in its transactions always, does not make the processor try for ever', () => {
    marbles(({ flush }) => {
      const { work } = workshop(10);
      const store = new MemoryTransactions((n) => of(n > 1 ? 'failed' : 'committed'));
      const seen = observe(work(effecting(), { store, name, retry: { giveUpAfterMs: 60_000 } }));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'StoreError', operation: 'commit', retried: {} });
      expect(seen.endedAt).toBeLessThan(65_000);
      expect(store.holders).toBe(0);
      expect(store.committed.effects).toEqual([]);
    });
  });

  it('by not answering is asked again in time', () => {
    marbles(({ flush }) => {
      const { work } = workshop(10);
      const store = new PlainStore((call, n) => (call === 'save' && n === 2 ? timer(1e9) : undefined));
      const { handled, handle } = worker();
      const seen = observe(work(handle, { store, name, storeTimeoutMs: 700 }).pipe(until(3_000)));
      flush();
      expect(handled).toEqual(upTo(10));
      const at = seen.times[seen.values.findIndex(({ offset }) => offset === 10)];
      expect(at).toBeGreaterThan(700);
      expect(at).toBeLessThan(1_000);
    });
  });

  it('with a conflict ends the processor at once', () => {
    marbles(({ flush }) => {
      const conflict = new CursorError('conflict', name, 'somebody else saved it');
      const store = new PlainStore((call, n) => (call === 'save' && n === 2 ? throwError(() => conflict) : undefined));
      const seen = observe(workshop(10).work(worker().handle, { store, name }));
      flush();
      expect(seen.error).toBe(conflict);
      expect(seen.endedAt).toBeLessThan(100);
    });
  });

  it('by losing the name has the processor begin anew from what was committed', () => {
    marbles(({ flush }) => {
      const lost$ = new Subject<unknown>();
      const { work } = workshop(50);
      const store = new MemoryTransactions(undefined, lost$);
      for (const ms of [333, 777, 1_234])
        timer(ms).subscribe(() => {
          lost$.next(true);
        });
      const options = { store, name, commitEvery: { updates: 3 } };
      const seen = observe(
        work(
          effecting(() => timer(20)),
          options,
        ).pipe(until(60_000)),
      );
      flush();
      expect(seen.error).toBeUndefined();
      expect(store.committed.effects).toEqual(upTo(50));
      expect(store.begun).toBeGreaterThan(19);
      expect(store).toMatchObject({ holders: 0, mostHolders: 1, mostOpen: 1 });
    });
  });

  it('now and then, while another one works, does not wear out who waits', () => {
    marbles(({ flush }) => {
      const { work } = workshop(10);
      const store = new MemoryTransactions();
      let holds = 0;
      const hold = (): Observable<Transactions<Tx>> => {
        holds += 1;
        if (holds > 20) return store.hold();
        return timer(3_600_000).pipe(concatMap(() => throwError(() => new Error('failover'))));
      };
      const waiting: TransactionalStore<Tx> = {
        hold,
        transactions: store.transactions,
        load: () => store.load(),
        save: (...args) => store.save(...args),
      };
      const seen = observe(work(effecting(), { store: waiting, name }).pipe(until(30 * 3_600_000)));
      flush();
      expect(seen.error).toBeUndefined();
      expect(store.committed.effects).toEqual(upTo(10));
    });
  });

  it('by ending its hold before it has begun is asked again', () => {
    marbles(({ flush }) => {
      const { work } = workshop(10);
      const store = new MemoryTransactions();
      let holds = 0;
      const ending: TransactionalStore<Tx> = {
        hold: () => ((holds += 1) < 3 ? EMPTY : store.hold()),
        transactions: store.transactions,
        load: () => store.load(),
        save: (...args) => store.save(...args),
      };
      const seen = observe(work(effecting(), { store: ending, name }).pipe(until(30_000)));
      flush();
      expect(seen.error).toBeUndefined();
      expect(store.committed.effects).toEqual(upTo(10));
    });
  });

  it('to hold its name, always, does not make the processor try for ever', () => {
    marbles(({ flush }) => {
      const { work } = workshop(10);
      const store = new MemoryTransactions();
      const failing: TransactionalStore<Tx> = {
        hold: () => timer(30_000).pipe(concatMap(() => throwError(() => new Error('no answer')))),
        transactions: store.transactions,
        load: () => store.load(),
        save: (...args) => store.save(...args),
      };
      const seen = observe(work(effecting(), { store: failing, name }).pipe(until(30 * 3_600_000)));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'StoreError', operation: 'hold', retried: {} });
    });
  });

  it.each([100, 2_000, 20_000, 61_000])(
    'to save does not make the processor try for ever while updates come every %i ms',
    (ms) => {
      marbles(({ flush }) => {
        const { work, ledger } = workshop(3);
        const store = new MemoryTransactions((n) => of(n > 2 ? 'failed' : 'committed'));
        for (const n of upTo(Math.ceil(1_800_000 / ms)))
          timer(n * ms).subscribe(() => {
            fill(ledger, 3 + n);
          });
        const seen = observe(work(effecting(), { store, name }).pipe(until(1_800_000)));
        flush();
        expect(seen.error).toMatchObject({ _tag: 'StoreError', operation: 'commit', retried: {} });
        expect(seen.endedAt).toBeLessThan(500_000);
      });
    },
  );

  it('while it is to stop is not begun with anew', () => {
    marbles(({ flush }) => {
      const { work } = workshop(50);
      const store = new MemoryTransactions((n) => timer(100).pipe(map(() => (n > 1 ? 'failed' : 'committed'))));
      const controller = new AbortController();
      timer(150).subscribe(() => {
        controller.abort();
      });
      const seen = observe(work(effecting(), { store, name, signal: controller.signal }));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'StoreError' });
      expect(seen.endedAt).toBeLessThan(300);
      expect(store.begun).toBe(2);
    });
  });
});
