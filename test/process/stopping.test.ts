import { describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, concatMap, map, NEVER, throwError, timer } from 'rxjs';
import { StoreError } from '../../src/errors/process.js';
import { observe } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';
import { fill, upTo } from '../helpers/world.js';
import {
  mockPlatform,
  name,
  PlainStore,
  processWorld,
  recordingHandler,
  run,
  type RunOptions,
  until,
} from './support.js';
import { MemoryTransactions } from './transactionalStore.js';

mockPlatform();

const mine = new Error('mine');
const full = () => throwError(() => new Error('ENOSPC'));
const storeOf = (cursor: unknown): PlainStore => new PlainStore().withRecord(cursor);

type AnyStore = PlainStore | MemoryTransactions;

/** Runs a processor whose signal is aborted after some milliseconds. */
const stopAt = <S extends AnyStore = PlainStore>(ms: number, options: RunOptions<S>) =>
  run({ ...options, abortAt: ms });

/** Runs a processor that is unsubscribed after some milliseconds. */
const unsubscribeAt = <S extends AnyStore = PlainStore>(ms: number, options: RunOptions<S>) => run({ ...options, ms });

describe.each([
  ['is unsubscribed', unsubscribeAt],
  ['is stopped by its signal', stopAt],
] as const)('a processor that %s', (_, endAt) => {
  it('while it waits for updates aborts its request, and leaves no timer', () => {
    const { service, seen } = endAt(2_000, { updates: 3 });
    expect(service.aborted).toHaveLength(1);
    expect(seen).toMatchObject({ completed: true, error: undefined, endedAt: 2_000 });
  });

  it('while it waits to retry a handler does not retry it', () => {
    const handle = jest.fn(() => throwError(() => mine));
    const options = { handlerRetry: { baseDelayMs: 20_000, giveUpAfterMs: 100_000 } };
    const { seen } = endAt(1_000, { handle, options });
    expect(handle).toHaveBeenCalledTimes(1);
    expect(seen).toMatchObject({ completed: true, error: undefined, endedAt: 1_000 });
  });

  it('while it waits for its name stops waiting, and has sent nothing', () => {
    const store = new MemoryTransactions();
    const hold = jest.spyOn(store, 'hold').mockReturnValue(NEVER);
    const { service, seen } = endAt(1_000, { store });
    expect(hold).toHaveBeenCalledTimes(1);
    expect(service.requests).toEqual([]);
    expect(seen).toMatchObject({ completed: true, error: undefined, endedAt: 1_000 });
  });

  it.each([0, 1, 50, 1_000])(
    'during a commit keeps what is committed and nothing else, within %i ms (G47)',
    (stopWithinMs) => {
      for (const ms of [20, 60, 61, 62, 115, 119, 160, 220]) {
        const store = new MemoryTransactions(() => timer(50).pipe(map(() => 'committed')));
        endAt(ms, { store, options: { stopWithinMs, commitEvery: { updates: 2 } } });
        expect(store.holders).toBe(0);
        expect(store.committed.effects).toEqual(upTo(store.cursor?.offset ?? 0));
        expect(store.committed.effects.length).toBeLessThan(10);
      }
    },
  );
});

describe('a processor that is unsubscribed', () => {
  it('while a handler runs aborts it at once, and the next run repeats what was not committed', () => {
    const { started, handled, store, endMs } = unsubscribeAt(5_500, {
      updates: 500,
      store: new PlainStore(undefined, 50),
      handlerMs: 1_000,
      options: { commitEvery: { updates: 2 } },
    });
    expect(started).toEqual(upTo(6));
    expect(handled).toEqual(upTo(5));
    expect(store.cursor).toMatchObject({ offset: 5 });
    expect(endMs).toBe(5_500);
    expect(run({ updates: 6, store: storeOf(store.cursor) }).handled).toEqual([6]);
  });

  it('while a save hangs does not wait for it', () => {
    const store = new PlainStore((call, n) => (call === 'save' && n > 1 ? NEVER : undefined));
    expect(unsubscribeAt(1_000, { store }).endMs).toBe(1_000);
  });

  it('while a transaction is open rolls it back, and releases its name', () => {
    const store = new MemoryTransactions(() => timer(200).pipe(map(() => 'committed')));
    const { endMs } = unsubscribeAt(1_050, {
      updates: 50,
      store,
      handlerMs: 100,
      options: { commitEvery: { updates: 4 } },
    });
    expect(store.committed.effects).toEqual(upTo(4));
    expect(store.cursor?.offset).toBe(4);
    expect(store.holders).toBe(0);
    expect(endMs).toBe(1_050);
  });
});

describe('a processor that is stopped by its signal', () => {
  it('while a handler runs waits for it, saves, and does not call it again (G47)', () => {
    const { started, handled, store, seen } = stopAt(5_500, {
      updates: 500,
      store: new PlainStore(undefined, 50),
      handlerMs: 1_000,
      options: { commitEvery: { ms: 60_000 } },
    });
    expect(started).toEqual(upTo(6));
    expect(handled).toEqual(upTo(6));
    expect(store.cursor).toMatchObject({ offset: 6 });
    // the handler starts after the load, the first save, the ledger end and a page
    expect(seen).toMatchObject({ completed: true, endedAt: 6_150 });
    expect(seen.values.at(-1)).toMatchObject({ offset: 6, handled: 6 });
  });

  it('during its second commit waits for the handler, too', () => {
    const options = { commitEvery: { updates: 2 } };
    const { started, handled, store } = stopAt(650, { updates: 50, handlerMs: 100, options });
    expect(started).toEqual(upTo(7));
    expect(handled).toEqual(upTo(7));
    expect(store.cursor).toMatchObject({ offset: 7 });
  });

  it('while a save hangs waits for stopWithinMs at most', () => {
    const store = new PlainStore((call, n) => (call === 'save' && n > 1 ? NEVER : undefined));
    const { seen, endMs } = stopAt(1_000, { store, options: { stopWithinMs: 3_000 } });
    expect(endMs).toBe(4_000);
    expect(seen).toMatchObject({ completed: true, endedAt: 4_000 });
  });

  it('while saves fail retries them, and a store that recovers in time has saved everything (G35)', () => {
    const store = new PlainStore((call, n) =>
      call === 'save' && n > 1 && asyncScheduler.now() < 3_000 ? full() : undefined,
    );
    const { handled } = stopAt(500, { updates: 3, store, options: { stopWithinMs: 5_000 } });
    expect(handled).toEqual(upTo(3));
    expect(store.cursor).toMatchObject({ offset: 3 });
    expect(run({ updates: 3, store: storeOf(store.cursor) }).handled).toEqual([]);
  });

  it('while saves fail until stopWithinMs is over leaves its updates to the next processor (G35)', () => {
    const store = new PlainStore((call, n) => (call === 'save' && n > 1 ? full() : undefined));
    const { handled, endMs } = stopAt(500, { updates: 3, store, options: { stopWithinMs: 5_000 } });
    expect(handled).toEqual(upTo(3));
    expect(store.calls.save).toBeGreaterThan(4);
    expect(store.cursor).toMatchObject({ offset: 0 });
    expect(endMs).toBe(5_500);
    const next = run({ updates: 3, store: storeOf(store.cursor) });
    expect(next.handled).toEqual(upTo(3));
    expect(next.store.cursor).toMatchObject({ offset: 3 });
  });

  it('abandons a handler that hangs, after ten seconds by default', () => {
    const { seen } = stopAt(1_000, { handle: () => NEVER });
    expect(seen).toMatchObject({ completed: true, endedAt: 11_000 });
  });

  it('while a handler runs that then fails saves the updates before it, and does not retry', () => {
    const handle = jest.fn<NonNullable<RunOptions['handle']>>(({ offset }) =>
      timer(400).pipe(concatMap(() => (offset === 2 ? throwError(() => mine) : [true]))),
    );
    const handlerRetry = { baseDelayMs: 8_000, giveUpAfterMs: 100_000 };
    const { store, seen, endMs } = stopAt(700, { handle, options: { handlerRetry, commitEvery: { updates: 1 } } });
    expect(handle).toHaveBeenCalledTimes(2);
    expect(store.cursor).toMatchObject({ offset: 1 });
    expect(seen.error).toBeUndefined();
    expect(seen.endedAt).toBeLessThan(1_000);
    // and nothing else is waited for
    expect(endMs).toBeLessThan(1_000);
  });

  it('while a transaction is open commits it, and then releases its name', () => {
    const store = new MemoryTransactions(() => timer(200).pipe(map(() => 'committed')));
    stopAt(1_050, { updates: 50, store, handlerMs: 100, options: { commitEvery: { updates: 4 } } });
    // four updates, and three of the next four
    expect(store.committed.effects).toEqual(upTo(7));
    expect(store.cursor?.offset).toBe(7);
    expect(store.holders).toBe(0);
  });

  it.each(['while it is saved', 'while a handler runs'])(
    'after its name was lost %s completes, and reports that',
    (when) => {
      const store = new MemoryTransactions(undefined, timer(when === 'while a handler runs' ? 70 : 1_000_000));
      const refused = new StoreError('hold', name, 'another processor holds the name now');
      const save = store.save.bind(store);
      if (when === 'while it is saved')
        jest
          .spyOn(store, 'save')
          .mockImplementation((...args) => (asyncScheduler.now() > 60 ? throwError(() => refused) : save(...args)));
      const { seen, diagnostics } = stopAt(60, { store, handlerMs: 100 });
      expect(seen).toMatchObject({ completed: true, error: undefined });
      expect(store.committed.effects).toEqual([]);
      expect(store.holders).toBe(0);
      expect(diagnostics).toContainEqual(
        expect.objectContaining({ _tag: 'NameLost', cause: expect.objectContaining({ operation: 'hold' }) }),
      );
    },
  );
});

it('a processor that is subscribed twice is one run, and one that is subscribed again another', () => {
  marbles(({ flush }) => {
    const { ledger, process } = processWorld(3);
    const { handled, handle } = recordingHandler();
    const process$ = process(handle);
    const [first, second] = [1_000, 3_000].map((ms) => observe(process$.pipe(until(ms))));
    timer(2_000).subscribe(() => {
      fill(ledger, 4);
    });
    const again: (typeof first)[] = [];
    timer(4_000).subscribe(() => again.push(observe(process$.pipe(until(1_000)))));
    flush();
    expect(handled).toEqual([1, 2, 3, 4, 1, 2, 3, 4]);
    expect(first?.values.at(-1)).toMatchObject({ offset: 3 });
    expect(second?.values.at(-1)).toMatchObject({ offset: 4 });
    expect(again[0]?.values.at(-1)).toMatchObject({ offset: 4 });
  });
});

describe('a signal', () => {
  it('that is aborted already sends nothing and calls no store', () => {
    const { seen, service, store } = run({ options: { signal: AbortSignal.abort() } });
    expect(seen).toMatchObject({ completed: true, error: undefined, values: [] });
    expect(service.requests).toEqual([]);
    expect(store.calls).toEqual({ load: 0, save: 0, park: 0 });
  });

  it.each([{ request: { endInclusive: 3 } }, { ms: 100 }])('has no listener left after the processor: %j', (how) => {
    const { signal } = new AbortController();
    const remove = jest.spyOn(signal, 'removeEventListener');
    const add = jest.spyOn(signal, 'addEventListener');
    run({ ...how, options: { signal } });
    expect(add.mock.calls.length).toBeGreaterThan(0);
    expect(remove).toHaveBeenCalledTimes(add.mock.calls.length);
  });

  it('between an update and an error of the feed after it suppresses the error', () => {
    const { handled, seen } = run({
      updates: 3,
      prepare: ({ ledger }) => {
        ledger.append(4, { update: { Transaction: { value: { offset: 4 } } } });
      },
      handlerMs: 100,
      abortAt: 150,
    });
    expect(handled).toEqual([1, 2]);
    expect(seen).toMatchObject({ completed: true, error: undefined });
  });
});
