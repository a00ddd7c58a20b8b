import { describe, expect, it } from '@jest/globals';
import { asyncScheduler, concatMap, of, tap, throwError, timer, type Observable } from 'rxjs';
import { logTo } from '../../src/diagnostics/logTo.js';
import { CursorError, StoreError } from '../../src/errors/process.js';
import type { Work, HandlerResult } from '../../src/process/ProcessOptions.js';
import { observe } from '../helpers/observe.js';
import { upTo } from '../helpers/world.js';
import { marbles } from '../helpers/time.js';
import { mockPlatform, name, PlainStore, until, recordingHandler, processWorld } from './support.js';
import { recordEffect, MemoryTransactions, type Tx } from './transactionalStore.js';

mockPlatform();

const mine = new Error('mine');
const ways: readonly (readonly [string, () => HandlerResult])[] = [
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
  it('has the whole time for each update, also for several of a page', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(10);
      const { handled, handle } = recordingHandler();
      const failedSince = new Map<number, number>();
      const seen = observe(
        process(
          (update) => {
            const since = failedSince.get(update.offset) ?? asyncScheduler.now();
            failedSince.set(update.offset, since);
            return update.offset > 4 && asyncScheduler.now() - since < 700
              ? throwError(() => new Error('no'))
              : handle(update);
          },
          { handlerRetry: { baseDelayMs: 1, maxDelayMs: 1, giveUpAfterMs: 1_000 }, commitEvery: { updates: 1 } },
        ).pipe(until(60_000)),
      );
      flush();
      expect(seen.error).toBeUndefined();
      expect(handled).toEqual(upTo(10));
    });
  });

  it.each(ways)('for a while is retried, and no update is lost: it %s', (_, fail) => {
    marbles(({ flush }) => {
      const { process, client } = processWorld(10);
      const store = new PlainStore();
      const { handled, handle } = recordingHandler();
      const diagnostics = observe(client.diagnostics$);
      let failures = 0;
      observe(
        process((update) => (update.offset === 5 && (failures += 1) <= 4 ? fail() : handle(update)), {
          store,
          name,
        }).pipe(until(30_000)),
      );
      flush();
      expect(handled).toEqual(upTo(10));
      const tries = diagnostics.values.filter(({ _tag }) => _tag === 'HandlerFailed');
      expect(tries).toMatchObject(
        [1, 2, 3, 4].map((n) => ({ offset: 5, failures: n, delayMs: 125 * 2 ** (n - 1), cause: mine })),
      );
    });
  });

  it.each(ways)(
    'ends the processor after giveUpAfterMs, with the updates before it committed: it %s (G43)',
    (_, fail) => {
      marbles(({ flush }) => {
        const { process, service } = processWorld(10);
        const store = new PlainStore();
        const { handled, handle } = recordingHandler();
        let tries = 0;
        const times = { handlerRetry: { baseDelayMs: 1_000, maxDelayMs: 1_000, giveUpAfterMs: 5_000 } };
        const seen = observe(
          process(
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
    },
  );

  it.each(['skip', 'park'] as const)(
    'has its update skipped or parked, and the others handled: %s (G43)',
    (onPoison) => {
      marbles(({ flush }) => {
        const { process, client } = processWorld(10);
        const store = new PlainStore();
        const { handled, handle } = recordingHandler();
        const diagnostics = observe(client.diagnostics$);
        const options = { store, name, onPoison, handlerRetry: { giveUpAfterMs: 0 } } as const;
        const seen = observe(
          process(
            (update) => ([1, 5, 10].includes(update.offset) ? throwError(() => mine) : handle(update)),
            options,
          ).pipe(until(1_000)),
        );
        flush();
        expect(seen.error).toBeUndefined();
        expect(handled).toEqual([2, 3, 4, 6, 7, 8, 9]);
        expect(store.cursor).toMatchObject({ offset: 10 });
        const _tag = onPoison === 'park' ? 'UpdateParked' : 'UpdateSkipped';
        expect(diagnostics.values.filter((diagnostic) => diagnostic._tag === _tag)).toMatchObject(
          [1, 5, 10].map((offset) => ({ offset, attempts: 1, cause: mine })),
        );
        expect([...store.parkedUpdates.keys()]).toEqual(onPoison === 'park' ? [1, 5, 10] : []);
        if (onPoison === 'park')
          expect(store.parkedUpdates.get(5)).toMatchObject({
            offset: 5,
            updateId: '12205',
            reason: 'mine',
            attempts: 1,
            update: { update: { Transaction: {} } },
          });
      });
    },
  );

  it.each(['stop', 'skip', 'park'] as const)('with a StoreError is retried like a store: onPoison %s', (onPoison) => {
    marbles(({ flush }) => {
      const { process } = processWorld(10);
      const store = new PlainStore();
      const { handled, handle } = recordingHandler();
      const down = (): boolean => asyncScheduler.now() < 120_000;
      const fail = (update: Work): HandlerResult => {
        if (update.offset === 5 && down()) throw new StoreError('publish', name, 'down');
        return handle(update);
      };
      const options = { store, name, onPoison, handlerRetry: { giveUpAfterMs: 1_000 } };
      const seen = observe(process(fail, options).pipe(until(200_000)));
      flush();
      expect(seen.error).toBeUndefined();
      // the updates before it were committed first
      expect(handled).toEqual(upTo(10));
      expect(store.parkedUpdates.size).toBe(0);
    });
  });

  it('with a StoreError for longer than the retry policy allows ends the processor with it', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(10);
      const fail = () => throwError(() => new StoreError('publish', name, 'down'));
      const options = { store: new PlainStore(), name, onPoison: 'skip', retry: { giveUpAfterMs: 20_000 } } as const;
      const seen = observe(process(fail, options));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'StoreError', operation: 'publish' });
      expect(seen.endedAt).toBeGreaterThanOrEqual(20_000);
      expect(seen.endedAt).toBeLessThan(21_000);
    });
  });

  it('with a StoreError while the processor is being stopped lets it complete', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(10);
      const store = new PlainStore();
      const controller = new AbortController();
      const fail = (update: Work): HandlerResult => {
        if (update.offset < 5) return undefined;
        return timer(1_000).pipe(
          tap(() => {
            controller.abort();
          }),
          concatMap(() => throwError(() => new StoreError('publish', name, 'down'))),
        );
      };
      const options = { store, name, signal: controller.signal, commitEvery: { updates: 1 } };
      const seen = observe(process(fail, options));
      flush();
      expect(seen).toMatchObject({ error: undefined, completed: true });
      expect(store.cursor).toMatchObject({ offset: 4 });
    });
  });

  it.each([
    new CursorError('ledger', name, 'another one'),
    Object.assign(new Error('gone'), { name: 'Mine', endsProcessor: true }),
  ])('with an error that ends the processor is called once: %s', (error) => {
    marbles(({ flush }) => {
      const { process } = processWorld(10);
      const store = new PlainStore();
      const { started, handled, handle } = recordingHandler();
      const fail = (update: Work): HandlerResult => {
        if (update.offset < 5) return handle(update);
        started.push(update.offset);
        throw error;
      };
      const seen = observe(process(fail, { store, name, onPoison: 'skip' }));
      flush();
      expect(seen.error).toBe(error);
      expect(started).toEqual(upTo(5));
      expect(handled).toEqual(upTo(4));
      expect(store.cursor).toMatchObject({ offset: 4 });
    });
  });

  it('in a transaction has the updates before it rolled back, and handled again without it', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(10);
      const store = new MemoryTransactions();
      const options = { store, name, onPoison: 'park', handlerRetry: { giveUpAfterMs: 3_000 } } as const;
      const fail = (offset: number): Observable<unknown> => (offset === 5 ? throwError(() => mine) : of(true));
      observe(process(recordEffect(fail), options).pipe(until(10_000)));
      flush();
      expect(store.committed.effects).toEqual([1, 2, 3, 4, 6, 7, 8, 9, 10]);
      expect([...store.committed.parked.keys()]).toEqual([5]);
      expect(store.cursor).toMatchObject({ offset: 10 });
      expect(store.maxOpen).toBe(1);
    });
  });

  it('in a transaction has its own effects rolled back, and is called once if giveUpAfterMs is 0', () => {
    marbles(({ flush }) => {
      const store = new MemoryTransactions();
      const started: number[] = [];
      const half = ({ offset }: Work, tx: Tx): HandlerResult => {
        started.push(offset);
        tx.effects.push(offset);
        return offset === 5 ? throwError(() => mine) : undefined;
      };
      const seen = observe(processWorld(10).process(half, { store, name, handlerRetry: { giveUpAfterMs: 0 } }));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'HandlerError', offset: 5, attempts: 1 });
      expect(store.committed.effects).toEqual([1, 2, 3, 4]);
      expect(started.filter((offset) => offset === 5)).toHaveLength(1);
    });
  });
});

/** An update without required fields. */
const broken = (offset: number): object => ({ update: { Transaction: { value: { offset } } } });

describe('an update that does not decode', () => {
  it.each(['skip', 'park', 'stop'] as const)('is treated like one that cannot be handled: %s', (onPoison) => {
    marbles(({ flush }) => {
      const { ledger, process } = processWorld(3);
      ledger.append(4, broken(4));
      ledger.append(6, broken(6));
      const store = new PlainStore();
      const { handled, handle } = recordingHandler();
      const seen = observe(process(handle, { store, name, onPoison }).pipe(until(2_000)));
      flush();
      expect(handled).toEqual([1, 2, 3]);
      expect(store.cursor).toMatchObject({ offset: onPoison === 'stop' ? 3 : 6, lastUpdate: { offset: 3 } });
      expect([...store.parkedUpdates.keys()]).toEqual(onPoison === 'park' ? [4, 6] : []);
      if (onPoison === 'stop') expect(seen.error).toMatchObject({ _tag: 'DecodeError', offset: 4 });
      else expect(seen.error).toBeUndefined();
      if (onPoison === 'park')
        expect(store.parkedUpdates.get(4)).toMatchObject({
          offset: 4,
          attempts: 1,
          reason: expect.stringContaining('decode'),
        });
    });
  });
});

describe('a mistake in a handler', () => {
  const mistake = new TypeError("Cannot read properties of undefined (reading 'id')");
  const failAt5 = (error: Error) => (update: { readonly offset: number }) => {
    if (update.offset === 5) throw error;
  };

  it('ends the processor at once: a retry would repeat it', () => {
    marbles(({ flush }) => {
      const { process, client } = processWorld(10);
      const lines: string[] = [];
      const log = (line: string) => lines.push(line);
      client.diagnostics$.subscribe(logTo({ warn: log, error: log, info: log }));
      const seen = observe(process(failAt5(mistake)).pipe(until(1_000)));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'HandlerError', offset: 5, attempts: 1, cause: mistake });
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatch(/Cannot read properties of undefined.* at .*handlerFailures\.test\.ts/);
    });
  });

  it('parks the update at once', () => {
    marbles(({ flush }) => {
      const { process, client } = processWorld(10);
      const diagnostics = observe(client.diagnostics$);
      const store = new PlainStore();
      observe(process(failAt5(mistake), { store, name, onPoison: 'park' }).pipe(until(1_000)));
      flush();
      expect(diagnostics.values).toContainEqual(expect.objectContaining({ _tag: 'UpdateParked', attempts: 1 }));
    });
  });

  it.each([
    ['a fetch without a response', new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') }), 'stop'],
    ['a fetch of a browser', new TypeError('Failed to fetch'), 'stop'],
    ['an update that would be skipped, and gone', mistake, 'skip'],
  ] as const)('is retried if it is %s', (_, error, onPoison) => {
    marbles(({ flush }) => {
      const { process, client } = processWorld(10);
      const diagnostics = observe(client.diagnostics$);
      const options = { store: new PlainStore(), name, onPoison };
      observe(process(failAt5(error), options).pipe(until(1_000)));
      flush();
      expect(diagnostics.values).toContainEqual(expect.objectContaining({ _tag: 'HandlerFailed', failures: 1 }));
    });
  });
});
