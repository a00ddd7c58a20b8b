import { describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, concatMap, map, NEVER, of, throwError, timer } from 'rxjs';
import { StoreError } from '../../src/errors/process.js';
import type { Work } from '../../src/process/ProcessOptions.js';
import { observe } from '../helpers/observe.js';
import { fill, upTo } from '../helpers/world.js';
import { marbles } from '../helpers/time.js';
import { mockPlatform, name, PlainStore, until, recordingHandler, processWorld } from './support.js';
import { recordEffect, MemoryTransactions } from './transactionalStore.js';

mockPlatform();

/** A signal that aborts at a virtual time. */
const abortAt = (ms: number): AbortSignal => {
  const controller = new AbortController();
  timer(ms).subscribe(() => {
    controller.abort();
  });
  return controller.signal;
};

describe.each(['unsubscribed', 'aborted'] as const)('a processor that is %s', (how) => {
  const stopAt = (ms: number): { signal?: AbortSignal } => (how === 'aborted' ? { signal: abortAt(ms) } : {});
  const unsubscribeAt = how === 'unsubscribed' ? until : () => until(100_000);

  it('while it waits for updates aborts its request, and leaves no timer', () => {
    marbles(({ flush }) => {
      const { process, service } = processWorld(3);
      const seen = observe(process(recordingHandler().handle, stopAt(2_000)).pipe(unsubscribeAt(2_000)));
      flush();
      expect(service.aborted).toHaveLength(1);
      expect(service.open).toBe(0);
      expect(seen).toMatchObject({ completed: true, error: undefined, endedAt: 2_000 });
    });
  });

  it('while a handler runs waits for it, saves, and does not call it again (G47)', () => {
    marbles(({ flush }) => {
      const { process, service } = processWorld(500);
      const store = new PlainStore(undefined, 50);
      const { started: begun, handled, handle } = recordingHandler(1_000);
      const seen = observe(
        process(handle, { store, name, commitEvery: { ms: 60_000 }, ...stopAt(5_500) }).pipe(unsubscribeAt(5_500)),
      );
      flush();
      expect(begun).toEqual(upTo(6));
      expect(handled).toEqual(upTo(6));
      expect(store.cursor).toMatchObject({ offset: 6 });
      expect(service.open).toBe(0);
      // the handler starts after the load, the first save, the ledger end and a page
      if (how === 'aborted') expect(seen).toMatchObject({ completed: true, endedAt: 6_150 });
      if (how === 'aborted') expect(seen.values.at(-1)).toMatchObject({ offset: 6, handled: 6 });
    });
  });

  it('during its second commit waits for the handler, too', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(50);
      const store = new PlainStore();
      const { started: begun, handled, handle } = recordingHandler(100);
      observe(process(handle, { store, name, commitEvery: { updates: 2 }, ...stopAt(650) }).pipe(unsubscribeAt(650)));
      flush();
      expect(begun).toEqual(upTo(7));
      expect(handled).toEqual(upTo(7));
      expect(store.cursor).toMatchObject({ offset: 7 });
    });
  });

  it('while a save hangs waits for stopWithinMs at most', () => {
    marbles(({ flush }) => {
      const { process, service } = processWorld(5);
      const store = new PlainStore((call, n) => (call === 'save' && n > 1 ? NEVER : undefined));
      const seen = observe(
        process(recordingHandler().handle, { store, name, stopWithinMs: 3_000, ...stopAt(1_000) }).pipe(
          unsubscribeAt(1_000),
        ),
      );
      flush();
      expect(service.open).toBe(0);
      expect(asyncScheduler.now()).toBe(4_000);
      if (how === 'aborted') expect(seen).toMatchObject({ completed: true, endedAt: 4_000 });
    });
  });

  it('while saves fail retries them, and a store that recovers in time has saved everything (G35)', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(3);
      const store = new PlainStore((call, n) =>
        call === 'save' && n > 1 && asyncScheduler.now() < 3_000 ? throwError(() => new Error('ENOSPC')) : undefined,
      );
      const { handled, handle } = recordingHandler();
      observe(process(handle, { store, name, stopWithinMs: 5_000, ...stopAt(500) }).pipe(unsubscribeAt(500)));
      flush();
      expect(store.cursor).toMatchObject({ offset: 3 });
      observe(process(handle, { store, name }).pipe(until(100)));
      flush();
      expect(handled).toEqual(upTo(3));
    });
  });

  it('while saves fail until stopWithinMs is over leaves its updates to the next processor (G35)', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(3);
      const faulty = new PlainStore((call, n) =>
        call === 'save' && n > 1 ? throwError(() => new Error('ENOSPC')) : undefined,
      );
      const { handled, handle } = recordingHandler();
      observe(process(handle, { store: faulty, name, stopWithinMs: 5_000, ...stopAt(500) }).pipe(unsubscribeAt(500)));
      flush();
      expect(handled).toEqual(upTo(3));
      expect(faulty.calls.save).toBeGreaterThan(4);
      expect(faulty.cursor).toMatchObject({ offset: 0 });
      expect(asyncScheduler.now()).toBe(5_500);
      const store = new PlainStore().withRecord(faulty.cursor);
      observe(process(handle, { store, name }).pipe(until(100)));
      flush();
      expect(handled).toEqual([...upTo(3), ...upTo(3)]);
      expect(store.cursor).toMatchObject({ offset: 3 });
    });
  });

  it('abandons a handler that hangs, after ten seconds by default', () => {
    marbles(({ flush }) => {
      const { process, service } = processWorld(5);
      const seen = observe(process(() => NEVER, stopAt(1_000)).pipe(unsubscribeAt(1_000)));
      flush();
      expect(service.open).toBe(0);
      if (how === 'aborted') expect(seen).toMatchObject({ completed: true, endedAt: 11_000 });
    });
  });

  it('while it waits to retry a handler does not retry it', () => {
    marbles(({ flush }) => {
      const { process, service } = processWorld(5);
      const store = new PlainStore();
      const handle = jest.fn(() => throwError(() => new Error('mine')));
      const handlerRetry = { baseDelayMs: 20_000, giveUpAfterMs: 100_000 };
      const seen = observe(process(handle, { store, name, handlerRetry, ...stopAt(1_000) }).pipe(unsubscribeAt(1_000)));
      flush();
      expect(handle).toHaveBeenCalledTimes(1);
      expect(service.open).toBe(0);
      expect(seen).toMatchObject({ completed: true, error: undefined, endedAt: 1_000 });
    });
  });

  it('while a handler runs that then fails saves the updates before it, and does not retry', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(5);
      const store = new PlainStore();
      const handle = jest.fn(({ offset }: Work) =>
        timer(400).pipe(concatMap(() => (offset === 2 ? throwError(() => new Error('mine')) : of(true)))),
      );
      const options = { store, name, handlerRetry: { baseDelayMs: 8_000, giveUpAfterMs: 100_000 } };
      const commitEvery = { updates: 1 };
      const seen = observe(process(handle, { ...options, commitEvery, ...stopAt(700) }).pipe(unsubscribeAt(700)));
      flush();
      expect(handle).toHaveBeenCalledTimes(2);
      expect(store.cursor).toMatchObject({ offset: 1 });
      expect(seen.error).toBeUndefined();
      expect(seen.endedAt).toBeLessThan(1_000);
      // and nothing else is waited for
      expect(asyncScheduler.now()).toBeLessThan(1_000);
    });
  });

  it('while it waits for its name stops waiting, and has sent nothing', () => {
    marbles(({ flush }) => {
      const { process, service } = processWorld(5);
      const store = new MemoryTransactions();
      const hold = jest.spyOn(store, 'hold').mockReturnValue(NEVER);
      const seen = observe(process(() => undefined, { store, name, ...stopAt(1_000) }).pipe(unsubscribeAt(1_000)));
      flush();
      expect(hold).toHaveBeenCalledTimes(1);
      expect(service.requests).toEqual([]);
      expect(seen).toMatchObject({ completed: true, error: undefined, endedAt: 1_000 });
    });
  });

  it('while a transaction is open commits it, and then releases its name', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(50);
      const store = new MemoryTransactions(() => timer(200).pipe(map(() => 'committed')));
      const options = { store, name, commitEvery: { updates: 4 } };
      observe(
        process(
          recordEffect(() => timer(100)),
          { ...options, ...stopAt(1_050) },
        ).pipe(unsubscribeAt(1_050)),
      );
      flush();
      // four updates, and three of the next four
      expect(store.committed.effects).toEqual(upTo(store.cursor?.offset ?? 0));
      expect(store.cursor?.offset).toBe(7);
      expect(store.holders).toBe(0);
    });
  });

  it.each([0, 1, 50, 1_000])(
    'during a commit keeps what is committed and nothing else, within %i ms (G47)',
    (stopWithinMs) => {
      for (const ms of [20, 60, 61, 62, 115, 119, 160, 220])
        marbles(({ flush }) => {
          const store = new MemoryTransactions(() => timer(50).pipe(map(() => 'committed')));
          const options = { store, name, stopWithinMs, commitEvery: { updates: 2 } } as const;
          observe(
            processWorld(10)
              .process(recordEffect(), { ...options, ...stopAt(ms) })
              .pipe(unsubscribeAt(ms)),
          );
          flush();
          expect(store.holders).toBe(0);
          expect(store.committed.effects).toEqual(upTo(store.cursor?.offset ?? 0));
          expect(store.committed.effects.length).toBeLessThan(10);
        });
    },
  );

  it.each(['while it is saved', 'while a handler runs'])(
    'after its name was lost %s completes, and reports that',
    (when) => {
      marbles(({ flush }) => {
        const lost$ = timer(when === 'while a handler runs' ? 70 : 1_000_000);
        const store = new MemoryTransactions(undefined, lost$);
        const refused = new StoreError('hold', name, 'another processor holds the name now');
        const save = store.save.bind(store);
        if (when === 'while it is saved')
          jest
            .spyOn(store, 'save')
            .mockImplementation((...args) => (asyncScheduler.now() > 60 ? throwError(() => refused) : save(...args)));
        const { client, process } = processWorld(10);
        const diagnostics = observe(client.diagnostics$);
        const slow = recordEffect(() => timer(100));
        const seen = observe(process(slow, { store, name, ...stopAt(60) }).pipe(unsubscribeAt(60)));
        flush();
        if (how === 'aborted') expect(seen).toMatchObject({ completed: true, error: undefined });
        expect(store.committed.effects).toEqual([]);
        expect(store.holders).toBe(0);
        expect(diagnostics.values).toContainEqual(
          expect.objectContaining({ _tag: 'NameLost', cause: expect.objectContaining({ operation: 'hold' }) }),
        );
      });
    },
  );

  it('and is subscribed again starts from the beginning, independently', () => {
    marbles(({ flush }) => {
      const { ledger, process } = processWorld(3);
      const { handled, handle } = recordingHandler();
      const process$ = process(handle);
      const first = observe(process$.pipe(until(1_000)));
      const second = observe(process$.pipe(until(3_000)));
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
  it('that is aborted already sends nothing and calls no store', () => {
    marbles(({ flush }) => {
      const { process, service } = processWorld(3);
      const store = new PlainStore();
      const seen = observe(process(recordingHandler().handle, { store, name, signal: AbortSignal.abort() }));
      flush();
      expect(seen).toMatchObject({ completed: true, error: undefined, values: [] });
      expect(service.requests).toEqual([]);
      expect(store.calls).toEqual({ load: 0, save: 0, park: 0 });
    });
  });

  it('has no listener left after the processor has ended', () => {
    marbles(({ flush }) => {
      const { signal } = new AbortController();
      const remove = jest.spyOn(signal, 'removeEventListener');
      const add = jest.spyOn(signal, 'addEventListener');
      const { process } = processWorld(3);
      observe(process(recordingHandler().handle, { signal }, { endInclusive: 3 }));
      observe(process(recordingHandler().handle, { signal }).pipe(until(100)));
      flush();
      expect(add.mock.calls.length).toBeGreaterThan(0);
      expect(remove).toHaveBeenCalledTimes(add.mock.calls.length);
    });
  });

  it('between an update and an error of the feed after it suppresses the error', () => {
    marbles(({ flush }) => {
      const { process, ledger } = processWorld(3);
      ledger.append(4, { update: { Transaction: { value: { offset: 4 } } } });
      const { handled, handle } = recordingHandler(100);
      const seen = observe(process(handle, { signal: abortAt(150) }));
      flush();
      expect(handled).toEqual([1, 2]);
      expect(seen).toMatchObject({ completed: true, error: undefined });
    });
  });
});
