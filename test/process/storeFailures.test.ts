import { describe, expect, it } from '@jest/globals';
import { concatMap, EMPTY, lastValueFrom, map, of, Subject, throwError, timer, type Observable } from 'rxjs';
import { CursorError } from '../../src/errors/process.js';
import type { Transactions } from '../../src/process/CheckpointStore.js';
import type { Work, HandlerResult } from '../../src/process/ProcessOptions.js';
import { effort } from '../helpers/effort.js';
import { observe, offsets } from '../helpers/observe.js';
import { fill, upTo } from '../helpers/world.js';
import { marbles } from '../helpers/time.js';
import { mockPlatform, name, PlainStore, until, recordingHandler, processWorld, type StoreFault } from './support.js';
import { holdingBy, recordEffect, MemoryTransactions, type Tx } from './transactionalStore.js';

mockPlatform();

const mine = new Error('mine');

const failing =
  (what: 'load' | 'save' | 'park', from: number, to = Infinity): StoreFault =>
  (call, n) =>
    call === what && n >= from && n <= to ? throwError(() => new Error('ENOSPC')) : undefined;

describe('a store that fails', () => {
  it.each(['load', 'save'] as const)('for a minute is retried, and nothing is handled twice: %s (G42)', (what) => {
    marbles(({ flush }) => {
      const { process } = processWorld(10);
      let isDown = true;
      timer(60_000).subscribe(() => {
        isDown = false;
      });
      const store = new PlainStore((call, n) =>
        isDown && call === what && (what === 'load' || n > 1) ? throwError(() => new Error('ENOSPC')) : undefined,
      );
      const { handled, handle } = recordingHandler();
      const seen = observe(process(handle, { store, name, commitEvery: { updates: 3 } }).pipe(until(200_000)));
      flush();
      expect(seen.error).toBeUndefined();
      expect(handled).toEqual(upTo(10));
      expect(offsets(store.saves)).toEqual([0, 3, 6, 9, 10]);
    });
  });

  it.each(['load', 'save', 'park'] as const)('permanently ends the processor after giveUpAfterMs: %s (G42)', (what) => {
    marbles(({ flush }) => {
      const { process, service } = processWorld(10);
      const store = new PlainStore(failing(what, what === 'save' ? 2 : 1));
      const { handled, handle } = recordingHandler();
      const handleOrFail = (update: Work): HandlerResult => {
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
      const seen = observe(process(handleOrFail, options));
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

  it('at every commit ends the processor after giveUpAfterMs', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(10);
      const store = new MemoryTransactions((n) => of(n > 1 ? 'failed' : 'committed'));
      const seen = observe(process(recordEffect(), { store, name, retry: { giveUpAfterMs: 60_000 } }));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'StoreError', operation: 'commit', retried: {} });
      expect(seen.endedAt).toBeLessThan(65_000);
      expect(store.holders).toBe(0);
      expect(store.committed.effects).toEqual([]);
    });
  });

  it('by not answering is retried after storeTimeoutMs (G42)', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(10);
      const store = new PlainStore((call, n) => (call === 'save' && n === 2 ? timer(1e9) : undefined));
      const { handled, handle } = recordingHandler();
      const seen = observe(process(handle, { store, name, storeTimeoutMs: 700 }).pipe(until(3_000)));
      flush();
      expect(handled).toEqual(upTo(10));
      const at = seen.times[seen.values.findIndex(({ offset }) => offset === 10)];
      expect(at).toBeGreaterThan(700);
      expect(at).toBeLessThan(1_000);
    });
  });

  it.each([
    ['save', new CursorError('conflict', name, 'another process saved it')],
    ['load', Object.assign(new Error('gone'), { endsProcessor: true })],
  ] as const)('with an error that ends the processor is called once: %s, %s', (what, error) => {
    marbles(({ flush }) => {
      const at = what === 'save' ? 2 : 1;
      const store = new PlainStore((call, n) => (call === what && n >= at ? throwError(() => error) : undefined));
      const seen = observe(processWorld(10).process(recordingHandler().handle, { store, name }));
      flush();
      expect(seen.error).toBe(error);
      expect(store.calls[what]).toBe(at);
      expect(seen.endedAt).toBeLessThan(100);
    });
  });

  it('by losing the name makes the processor resume from the last commit', () => {
    marbles(({ flush }) => {
      const lost$ = new Subject<unknown>();
      const { process } = processWorld(50);
      const store = new MemoryTransactions(undefined, lost$);
      for (const ms of [333, 777, 1_234])
        timer(ms).subscribe(() => {
          lost$.next(true);
        });
      const options = { store, name, commitEvery: { updates: 3 } };
      const seen = observe(
        process(
          recordEffect(() => timer(20)),
          options,
        ).pipe(until(60_000)),
      );
      flush();
      expect(seen.error).toBeUndefined();
      expect(store.committed.effects).toEqual(upTo(50));
      expect(store.transactionCount).toBeGreaterThan(19);
      expect(store).toMatchObject({ holders: 0, maxHolders: 1, maxOpen: 1 });
    });
  });

  it('by losing the name while a handler runs that is not awaited calls it no more in that transaction', () => {
    marbles(({ flush }) => {
      const lost$ = new Subject<unknown>();
      const { process } = processWorld(10);
      const store = new MemoryTransactions(undefined, lost$);
      const calls: number[] = [];
      const handle = ({ offset }: Work, tx: Tx): void => {
        calls.push(offset);
        tx.effects.push(offset);
        if (calls.length === 3) lost$.next(true);
      };
      observe(process(handle, { store, name }, { endInclusive: 10 }).pipe(until(60_000)));
      flush();
      expect(calls).toEqual([1, 2, 3, ...upTo(10)]);
      expect(store.committed.effects).toEqual(upTo(10));
    });
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
    await lastValueFrom(process(handle, { store, name, retry: { baseDelayMs: 1 } }, { endInclusive: 20 }));
    expect(lostIn).toHaveLength(3);
    expect(callsAfterLoss).toEqual([]);
    expect(store.committed.effects).toEqual(upTo(20));
  });

  it('from time to time while another processor works does not end the one that waits', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(10);
      const store = new MemoryTransactions();
      const failovers = effort(5, 20);
      let holds = 0;
      const hold = (): Observable<Transactions<Tx>> => {
        holds += 1;
        if (holds > failovers) return store.hold();
        return timer(3_600_000).pipe(concatMap(() => throwError(() => new Error('failover'))));
      };
      const waiting = holdingBy(store, hold);
      const seen = observe(process(recordEffect(), { store: waiting, name }).pipe(until((failovers + 10) * 3_600_000)));
      flush();
      expect(seen.error).toBeUndefined();
      expect(store.committed.effects).toEqual(upTo(10));
    });
  });

  it('by completing a hold without the name is retried', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(10);
      const store = new MemoryTransactions();
      let holds = 0;
      const ending = holdingBy(store, () => ((holds += 1) < 3 ? EMPTY : store.hold()));
      const seen = observe(process(recordEffect(), { store: ending, name }).pipe(until(30_000)));
      flush();
      expect(seen.error).toBeUndefined();
      expect(store.committed.effects).toEqual(upTo(10));
    });
  });

  it('at every attempt to hold the name ends the processor after giveUpAfterMs', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(10);
      const store = new MemoryTransactions();
      const failing = holdingBy(store, () =>
        timer(30_000).pipe(concatMap(() => throwError(() => new Error('no answer')))),
      );
      const seen = observe(process(recordEffect(), { store: failing, name }).pipe(until(30 * 3_600_000)));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'StoreError', operation: 'hold', retried: {} });
    });
  });

  it.each([100, 2_000, 20_000, 61_000])(
    'at every save ends the processor after giveUpAfterMs, also while updates arrive every %i ms',
    (ms) => {
      marbles(({ flush }) => {
        const runMs = effort(400_000, 1_800_000);
        const { process, ledger } = processWorld(3);
        const store = new MemoryTransactions((n) => of(n > 2 ? 'failed' : 'committed'));
        for (const n of upTo(Math.ceil(runMs / ms)))
          timer(n * ms).subscribe(() => {
            fill(ledger, 3 + n);
          });
        const seen = observe(process(recordEffect(), { store, name }).pipe(until(runMs)));
        flush();
        expect(seen.error).toMatchObject({ _tag: 'StoreError', operation: 'commit', retried: {} });
        expect(seen.endedAt).toBeLessThan(500_000);
      });
    },
  );

  it('after the processor was stopped is not retried', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(50);
      const store = new MemoryTransactions((n) => timer(100).pipe(map(() => (n > 1 ? 'failed' : 'committed'))));
      const controller = new AbortController();
      timer(150).subscribe(() => {
        controller.abort();
      });
      const seen = observe(process(recordEffect(), { store, name, signal: controller.signal }));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'StoreError' });
      expect(seen.endedAt).toBeLessThan(300);
      expect(store.transactionCount).toBe(2);
    });
  });
});
