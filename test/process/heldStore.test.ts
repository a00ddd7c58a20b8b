import 'fake-indexeddb/auto';
import { describe, expect, it } from '@jest/globals';
import {
  concatMap,
  defer,
  finalize,
  firstValueFrom,
  lastValueFrom,
  map,
  merge,
  mergeMap,
  NEVER,
  type Observable,
  of,
  Subject,
  switchMap,
  take,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { StoreError } from '../../src/errors/process.js';
import { fileStore } from '../../src/file/index.js';
import { indexedDbStore } from '../../src/indexeddb/index.js';
import { handleParked, memoryStore } from '../../src/process/index.js';
import type { CheckpointStore, Cursor } from '../../src/process/CheckpointStore.js';
import type { Work } from '../../src/process/ProcessOptions.js';
import { folders } from '../file/folders.js';
import { observe } from '../helpers/observe.js';
import { marbles, until as eventually } from '../helpers/time.js';
import { upTo } from '../helpers/world.js';
import { lastValue } from './storeContract.js';
import { abortAfter, mockPlatform, name, PlainStore, processWorld, until } from './support.js';

mockPlatform();
const folder = folders();

/** A handler that takes some milliseconds, and counts how many of its calls run at the same time. */
function countingHandler(durationMs: number): {
  readonly handled: number[];
  readonly most: () => number;
  readonly handle: (work: Work) => Observable<unknown>;
} {
  const handled: number[] = [];
  let running = 0;
  let most = 0;
  return {
    handled,
    most: () => most,
    handle: ({ offset }) =>
      defer(() => {
        running += 1;
        most = Math.max(most, running);
        return timer(durationMs);
      }).pipe(
        tap(() => handled.push(offset)),
        finalize(() => {
          running -= 1;
        }),
      ),
  };
}

describe.each([
  ['memoryStore', () => memoryStore()],
  ['a store with load and save only', () => new PlainStore(undefined, 20)],
])('two runs of one name with %s', (_, open) => {
  it('work one after the other, and the second one continues where the first one stopped (G37)', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(10);
      const store = open();
      const { handled, most, handle } = countingHandler(100);
      const options = { store, name, commitEvery: { updates: 2 } };
      const first = observe(process(handle, { ...options, signal: abortAfter(450) }));
      const second = observe(process(handle, options).pipe(until(5_000)));
      flush();
      expect(most()).toBe(1);
      expect(handled).toEqual(upTo(10));
      expect(first.values.at(-1)?.offset).toBeLessThan(10);
      expect(second.values.at(-1)).toMatchObject({ offset: 10 });
    });
  });

  it('wait for each other although one is stopped while it waits', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(4);
      const store = open();
      const { handled, most, handle } = countingHandler(300);
      const startNext = (ms: number) => observe(process(handle, { store, name, signal: abortAfter(ms) }));
      startNext(500);
      const stopped = startNext(100);
      startNext(10_000);
      flush();
      expect(stopped).toMatchObject({ values: [{ role: 'standby', offset: 0, handled: 0 }], endedAt: 100 });
      expect(most()).toBe(1);
      expect(handled).toEqual(upTo(4));
    });
  });

  it('that ends with an error, too', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(3);
      const store = open();
      const failing = observe(
        process(() => timer(50).pipe(concatMap(() => throwError(() => new Error('mine')))), {
          store,
          name,
          handlerRetry: { giveUpAfterMs: 0 },
        }),
      );
      const { handled, handle } = countingHandler(10);
      observe(process(handle, { store, name }).pipe(until(1_000)));
      flush();
      expect(failing.error).toMatchObject({ _tag: 'HandlerError' });
      expect(handled).toEqual(upTo(3));
    });
  });
});

describe('runs', () => {
  it('of different names, or with different stores, do not wait', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(2);
      const store = memoryStore();
      const runs = [
        process(() => timer(50), { store, name: 'a' }),
        process(() => timer(50), { store, name: 'b' }),
        process(() => timer(50), { store: memoryStore(), name: 'a' }),
      ].map((run$) => observe(run$.pipe(until(1_000))));
      flush();
      for (const { values } of runs) expect(values.at(-1)).toMatchObject({ offset: 2 });
    });
  });

  it('do not wait for handleParked', async () => {
    const store = memoryStore();
    await expect(
      firstValueFrom(
        handleParked(store, name, () => undefined),
        { defaultValue: 'none' },
      ),
    ).resolves.toBe('none');
  });
});

describe('a run that is abandoned after stopWithinMs', () => {
  const saveOf = (store: CheckpointStore, cursor: Cursor): unknown => store.save(name, cursor);

  it.each([
    ['a Promise', []],
    ['an async iterable', []],
    ['a Promise', [{ handler: () => ({}) }]],
    ['an async iterable', [{ handler: () => ({}) }]],
  ])('holds its name until %s of its handler has ended, with the interceptors %j', async (kind, interceptors) => {
    const { process } = processWorld(2, { client: { interceptors } });
    const store = memoryStore();
    const gate$ = new Subject<void>();
    const calls: string[] = [];
    const handle = async ({ offset }: Work): Promise<void> => {
      calls.push(`first ${offset}`);
      await firstValueFrom(gate$);
      calls.push(`first ${offset} ended`);
    };
    const iterate = async function* (work: Work): AsyncGenerator {
      yield work;
      await handle(work);
    };
    const slow = process(kind === 'a Promise' ? handle : iterate, { store, name, stopWithinMs: 0 }).subscribe();
    await eventually(() => calls.length === 1);
    slow.unsubscribe();
    const next = process(({ offset }) => void calls.push(`second ${offset}`), { store, name }).subscribe();
    // a run that does not wait has handled everything by then
    await lastValueFrom(process(() => timer(20), {}, { endInclusive: 2 }));
    expect(calls).toEqual(['first 1']);
    gate$.next();
    await eventually(() => calls.length === 4);
    next.unsubscribe();
    expect(calls).toEqual(['first 1', 'first 1 ended', 'second 1', 'second 2']);
  });

  it('holds its name until a Promise of its store has settled, for storeTimeoutMs at most', async () => {
    const { process } = processWorld(2);
    const memory = memoryStore();
    const gate$ = new Subject<void>();
    const saved: number[] = [];
    let isSlow = true;
    const store: CheckpointStore = {
      load: (key) => memory.load(key),
      save: async (_, cursor) => {
        if (cursor.offset > 0 && isSlow) {
          isSlow = false;
          await firstValueFrom(gate$);
        }
        saveOf(memory, cursor);
        saved.push(cursor.offset);
      },
    };
    const first = process(() => undefined, { store, name, stopWithinMs: 0 }, { endInclusive: 1 }).subscribe();
    await eventually(() => !isSlow);
    first.unsubscribe();
    const second = process(() => undefined, { store, name }).subscribe();
    await lastValueFrom(process(() => timer(20), {}, { endInclusive: 2 }));
    expect(saved).toEqual([0]);
    gate$.next();
    await eventually(() => saved.at(-1) === 2);
    second.unsubscribe();
    expect(saved).toEqual([0, 1, 2]);
  });

  it('does not hold its name for a save that never ends', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(2);
      const store = new PlainStore((call, n) => (call === 'save' && n === 2 ? NEVER : undefined));
      observe(process(() => undefined, { store, name, stopWithinMs: 100 }).pipe(until(500)));
      const second = observe(process(() => undefined, { store, name }).pipe(until(2_000)));
      flush();
      expect(second.values.at(-1)).toMatchObject({ offset: 2 });
    });
  });
});

describe('a run that has lost its name while a Promise of its handler works', () => {
  /** A store that gives a name at once, also that of a holder which has lost it: another process had it for a moment. */
  function losingStore() {
    const lost$ = new Subject<void>();
    const memory = memoryStore();
    const lost = lost$.pipe(
      map(() => {
        throw new StoreError('hold', name, 'another processor holds the name now');
      }),
    );
    const hold: CheckpointStore['hold'] = () => merge(of(true), lost);
    const { load, save } = memory;
    return { store: { load, save, hold }, lost$ };
  }

  it.each(['itself', 'the next run'])('does not let %s begin before it has ended (G37)', async (who) => {
    const { process } = processWorld(2);
    const { store, lost$ } = losingStore();
    const gate$ = new Subject<void>();
    const calls: string[] = [];
    const handle = async ({ offset }: Work): Promise<void> => {
      calls.push(`begin ${offset}`);
      if (calls.length === 1) await firstValueFrom(gate$);
      calls.push(`end ${offset}`);
    };
    const isSame = who === 'itself';
    const first = observe(
      process(handle, { store, name, storeRetry: isSame ? { baseDelayMs: 1 } : { giveUpAfterMs: 0 } }),
    );
    await eventually(() => calls.length === 1);
    lost$.next();
    if (!isSame) await eventually(() => first.error !== undefined);
    // one in between that does nothing does not count as the one before
    process(handle, { store, name }).subscribe().unsubscribe();
    const next = isSame ? first : observe(process(handle, { store, name }));
    // a run that does not wait has handled everything by then
    await lastValueFrom(process(() => timer(20), {}, { endInclusive: 2 }));
    expect(calls).toEqual(['begin 1']);
    gate$.next();
    await eventually(() => calls.at(-1) === 'end 2');
    next.subscription.unsubscribe();
    expect(calls).toEqual(['begin 1', 'end 1', 'begin 1', 'end 1', 'begin 2', 'end 2']);
  });
});

let databases = 0;

/** Stores of a new database. */
function newDatabase(): Promise<() => CheckpointStore> {
  const database = `switched ${(databases += 1)}`;
  return Promise.resolve(() => indexedDbStore({ database }));
}

describe.each<[string, () => Promise<() => CheckpointStore>]>([
  [
    'memoryStore',
    () => {
      const store = memoryStore();
      return Promise.resolve(() => store);
    },
  ],
  [
    'fileStore',
    async () => {
      const base = await folder();
      return () => fileStore(base);
    },
  ],
  ['indexedDbStore', () => newDatabase()],
])('runs of one name that are switched, with %s', (_, openStores) => {
  it.each([
    ['stopped by a signal', 'each update once'],
    ['unsubscribed', 'no update is left out'],
  ])('handle one update at a time if they are %s, %s, and never move the cursor back (G37)', async (how) => {
    const open = await openStores();
    const { process } = processWorld(60);
    const handled: number[] = [];
    const saved: number[] = [];
    let running = 0;
    let most = 0;
    const handle = async ({ offset }: Work): Promise<void> => {
      running += 1;
      most = Math.max(most, running);
      await lastValue(timer(15));
      running -= 1;
      handled.push(offset);
    };
    /** Another store of the same content for each run, which notes its saves. */
    const recorded = (): CheckpointStore => {
      const store = open();
      return {
        ...store,
        save: async (key, cursor) => {
          await lastValue(store.save(key, cursor, undefined));
          saved.push(cursor.offset);
        },
      };
    };
    let stopping = new AbortController();
    const runNext = () => {
      stopping.abort();
      stopping = new AbortController();
      return process(handle, { store: recorded(), name, signal: stopping.signal });
    };
    const runs$ = timer(0, 130).pipe(take(5));
    const switched =
      how === 'unsubscribed'
        ? runs$.pipe(switchMap(() => process(handle, { store: recorded(), name }))).subscribe()
        : runs$.pipe(mergeMap(runNext)).subscribe();
    await eventually(() => saved.at(-1) === 60);
    switched.unsubscribe();
    expect(most).toBe(1);
    expect(how === 'unsubscribed' ? [...new Set(handled)] : handled).toEqual(upTo(60));
    expect(saved).toEqual(saved.toSorted((a, b) => a - b));
  });
});
