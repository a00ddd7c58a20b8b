import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, concatMap, map, NEVER, of, throwError, timer } from 'rxjs';
import type { Work } from '../../src/process/ProcessOptions.js';
import { marbles } from '../helpers/marbles.js';
import { observe } from '../helpers/observe.js';
import { fill, upTo } from '../helpers/world.js';
import { hashAtOnce, name, PlainStore, until, worker, workshop } from './support.js';
import { effecting, MemoryTransactions } from './transactionalStore.js';

beforeEach(() => {
  hashAtOnce();
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** A signal that says so at a virtual time. */
const abortAt = (ms: number): AbortSignal => {
  const controller = new AbortController();
  timer(ms).subscribe(() => {
    controller.abort();
  });
  return controller.signal;
};

describe.each(['unsubscribed', 'aborted'] as const)('a processor that is %s', (how) => {
  const stopAt = (ms: number): { signal?: AbortSignal } => (how === 'aborted' ? { signal: abortAt(ms) } : {});
  const leave = how === 'unsubscribed' ? until : () => until(100_000);

  it('while nothing happens aborts its request, and leaves no timer', () => {
    marbles(({ flush }) => {
      const { work, service } = workshop(3);
      const seen = observe(work(worker().handle, stopAt(2_000)).pipe(leave(2_000)));
      flush();
      expect(service.aborted).toHaveLength(1);
      expect(service.open).toBe(0);
      expect(seen).toMatchObject({ completed: true, error: undefined, endedAt: 2_000 });
    });
  });

  it('while a handler runs lets it finish, saves, and hands nothing over any more', () => {
    marbles(({ flush }) => {
      const { work, service } = workshop(500);
      const store = new PlainStore(undefined, 50);
      const { begun, handled, handle } = worker(1_000);
      const seen = observe(
        work(handle, { store, name, commitEvery: { ms: 60_000 }, ...stopAt(5_500) }).pipe(leave(5_500)),
      );
      flush();
      expect(begun).toEqual(upTo(6));
      expect(handled).toEqual(upTo(6));
      expect(store.cursor).toMatchObject({ offset: 6 });
      expect(service.open).toBe(0);
      // the handler begins behind load, first save, ledger end, page
      if (how === 'aborted') expect(seen).toMatchObject({ completed: true, endedAt: 6_150 });
      if (how === 'aborted') expect(seen.values.at(-1)).toMatchObject({ offset: 6, handled: 6 });
    });
  });

  it('in its second commit lets the handler finish just the same', () => {
    marbles(({ flush }) => {
      const { work } = workshop(50);
      const store = new PlainStore();
      const { begun, handled, handle } = worker(100);
      observe(work(handle, { store, name, commitEvery: { updates: 2 }, ...stopAt(650) }).pipe(leave(650)));
      flush();
      expect(begun).toEqual(upTo(7));
      expect(handled).toEqual(upTo(7));
      expect(store.cursor).toMatchObject({ offset: 7 });
    });
  });

  it('while a save hangs waits for no longer than it may', () => {
    marbles(({ flush }) => {
      const { work, service } = workshop(5);
      const store = new PlainStore((call, n) => (call === 'save' && n > 1 ? NEVER : undefined));
      const seen = observe(
        work(worker().handle, { store, name, stopWithinMs: 3_000, ...stopAt(1_000) }).pipe(leave(1_000)),
      );
      flush();
      expect(service.open).toBe(0);
      expect(asyncScheduler.now()).toBe(4_000);
      if (how === 'aborted') expect(seen).toMatchObject({ completed: true, endedAt: 4_000 });
    });
  });

  it('abandons a handler that hangs, after ten seconds', () => {
    marbles(({ flush }) => {
      const { work, service } = workshop(5);
      const seen = observe(work(() => NEVER, stopAt(1_000)).pipe(leave(1_000)));
      flush();
      expect(service.open).toBe(0);
      if (how === 'aborted') expect(seen).toMatchObject({ completed: true, endedAt: 11_000 });
    });
  });

  it('while it waits to try a handler again does not try', () => {
    marbles(({ flush }) => {
      const { work, service } = workshop(5);
      const store = new PlainStore();
      const handle = jest.fn(() => throwError(() => new Error('mine')));
      const handlerRetry = { baseDelayMs: 20_000, giveUpAfterMs: 100_000 };
      const seen = observe(work(handle, { store, name, handlerRetry, ...stopAt(1_000) }).pipe(leave(1_000)));
      flush();
      expect(handle).toHaveBeenCalledTimes(1);
      expect(service.open).toBe(0);
      expect(seen).toMatchObject({ completed: true, error: undefined, endedAt: 1_000 });
    });
  });

  it('while a handler runs that fails then saves what was done before, and does not try again', () => {
    marbles(({ flush }) => {
      const { work } = workshop(5);
      const store = new PlainStore();
      const handle = jest.fn(({ offset }: Work) =>
        timer(400).pipe(concatMap(() => (offset === 2 ? throwError(() => new Error('mine')) : of(true)))),
      );
      const options = { store, name, handlerRetry: { baseDelayMs: 8_000, giveUpAfterMs: 100_000 } };
      const commitEvery = { updates: 1 };
      const seen = observe(work(handle, { ...options, commitEvery, ...stopAt(700) }).pipe(leave(700)));
      flush();
      expect(handle).toHaveBeenCalledTimes(2);
      expect(store.cursor).toMatchObject({ offset: 1 });
      expect(seen.error).toBeUndefined();
      expect(seen.endedAt).toBeLessThan(1_000);
      // and waits for nothing
      expect(asyncScheduler.now()).toBeLessThan(1_000);
    });
  });

  it('while it waits for its name lets go of it, and has sent nothing', () => {
    marbles(({ flush }) => {
      const { work, service } = workshop(5);
      const store = new MemoryTransactions();
      const hold = jest.spyOn(store, 'hold').mockReturnValue(NEVER);
      const seen = observe(work(() => true, { store, name, ...stopAt(1_000) }).pipe(leave(1_000)));
      flush();
      expect(hold).toHaveBeenCalledTimes(1);
      expect(service.asked).toEqual([]);
      expect(seen).toMatchObject({ completed: true, error: undefined, endedAt: 1_000 });
    });
  });

  it('while a transaction is open commits it, and lets go of its name then', () => {
    marbles(({ flush }) => {
      const { work } = workshop(50);
      const store = new MemoryTransactions(() => timer(200).pipe(map(() => 'committed')));
      const options = { store, name, commitEvery: { updates: 4 } };
      observe(
        work(
          effecting(() => timer(100)),
          { ...options, ...stopAt(1_050) },
        ).pipe(leave(1_050)),
      );
      flush();
      // four, and three of the next four
      expect(store.committed.effects).toEqual(upTo(store.cursor?.offset ?? 0));
      expect(store.cursor?.offset).toBe(7);
      expect(store.holders).toBe(0);
    });
  });

  it.each([0, 1, 50, 1_000])('while it commits keeps what was committed and no more, within %i ms', (stopWithinMs) => {
    for (const ms of [20, 60, 61, 62, 115, 119, 160, 220])
      marbles(({ flush }) => {
        const store = new MemoryTransactions(() => timer(50).pipe(map(() => 'committed')));
        const options = { store, name, stopWithinMs, commitEvery: { updates: 2 } } as const;
        observe(
          workshop(10)
            .work(effecting(), { ...options, ...stopAt(ms) })
            .pipe(leave(ms)),
        );
        flush();
        expect(store.holders).toBe(0);
        expect(store.committed.effects).toEqual(upTo(store.cursor?.offset ?? 0));
        expect(store.committed.effects.length).toBeLessThan(10);
      });
  });

  it('that is subscribed again begins anew, on its own', () => {
    marbles(({ flush }) => {
      const { ledger, work } = workshop(3);
      const { handled, handle } = worker();
      const work$ = work(handle);
      const first = observe(work$.pipe(until(1_000)));
      const second = observe(work$.pipe(until(3_000)));
      timer(2_000).subscribe(() => {
        fill(ledger, 4);
      });
      flush();
      expect(handled).toEqual([1, 2, 3, 1, 2, 3, 4]);
      expect(first.values.at(-1)).toMatchObject({ offset: 3 });
      expect(second.values.at(-1)).toMatchObject({ offset: 4 });
    });
  });
});

describe('a signal', () => {
  it('that was aborted before sends nothing and asks no store', () => {
    marbles(({ flush }) => {
      const { work, service } = workshop(3);
      const store = new PlainStore();
      const seen = observe(work(worker().handle, { store, name, signal: AbortSignal.abort() }));
      flush();
      expect(seen).toMatchObject({ completed: true, error: undefined, values: [] });
      expect(service.asked).toEqual([]);
      expect(store.calls).toEqual({ load: 0, save: 0, park: 0 });
    });
  });

  it('is listened to no more once the processor is over', () => {
    marbles(({ flush }) => {
      const { signal } = new AbortController();
      const remove = jest.spyOn(signal, 'removeEventListener');
      const add = jest.spyOn(signal, 'addEventListener');
      const { work } = workshop(3);
      observe(work(worker().handle, { signal }, { endInclusive: 3 }));
      observe(work(worker().handle, { signal }).pipe(until(100)));
      flush();
      expect(add.mock.calls.length).toBeGreaterThan(0);
      expect(remove).toHaveBeenCalledTimes(add.mock.calls.length);
    });
  });

  it('between an update and an error of the feed behind it: no error of what is not committed', () => {
    marbles(({ flush }) => {
      const { work, ledger } = workshop(3);
      ledger.append(4, { update: { Transaction: { value: { offset: 4 } } } });
      const { handled, handle } = worker(100);
      const seen = observe(work(handle, { signal: abortAt(150) }));
      flush();
      expect(handled).toEqual([1, 2]);
      expect(seen).toMatchObject({ completed: true, error: undefined });
    });
  });
});
