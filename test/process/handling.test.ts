import { describe, expect, it, jest } from '@jest/globals';
import { EMPTY, finalize, lastValueFrom, of, timer } from 'rxjs';
import type { Interception, Interceptor } from '../../src/client/Interceptor.js';
import type { CheckpointStore } from '../../src/process/CheckpointStore.js';
import { memoryStore } from '../../src/process/memoryStore.js';
import type { Work, HandlerResult } from '../../src/process/ProcessOptions.js';
import { observe, offsets } from '../helpers/observe.js';
import { upTo } from '../helpers/world.js';
import { checkpoint, synchronizerId, transaction, unknownVariant } from '../helpers/wire.js';
import { marbles } from '../helpers/time.js';
import {
  mockPlatform,
  name,
  PlainStore,
  type ProcessWorld,
  processWorld,
  recordingHandler,
  run,
  until,
} from './support.js';

mockPlatform();

/** A transaction with a record time and a synchronizer. */
const timed = (offset: number, recordTime: string, synchronizerId: string): object =>
  JSON.parse(
    JSON.stringify(transaction(offset))
      .replace(/"recordTime":"[^"]*"/, `"recordTime":"${recordTime}"`)
      .replace(/"synchronizerId":"[^"]*"/, `"synchronizerId":"${synchronizerId}"`),
  ) as object;

/** What a handler in JavaScript may be. */
function* generate() {
  yield 'nothing of this runs';
}

describe('a handler', () => {
  it('may return something else each time: the next call comes after the one before is finalized', async () => {
    const { process } = processWorld(40, { latencyMs: 0 });
    const log: string[] = [];
    const results: readonly ((end: () => void) => unknown)[] = [
      (end) => EMPTY.pipe(finalize(end)),
      (end) => timer(1).pipe(finalize(end)),
      (end) => of('something', 'else').pipe(finalize(end)),
      (end) => Promise.resolve().then(end),
      async function* (end) {
        await Promise.resolve();
        yield 'something';
        end();
      },
      (end) => {
        end();
      },
      (end) => {
        end();
        return ['a list, which is a value'];
      },
    ];
    const handle = ({ offset }: Work): HandlerResult => {
      log.push(`begin ${offset}`);
      const end = (): void => {
        log.push(`end ${offset}`);
      };
      // in JavaScript it may be anything
      return results[(offset + Math.floor(offset / 7)) % results.length]?.(end) as HandlerResult;
    };
    const last = await lastValueFrom(process(handle, {}, { endInclusive: 40 }));
    expect(last).toMatchObject({ offset: 40, handled: 40 });
    expect(log).toEqual(upTo(40).flatMap((offset) => [`begin ${offset}`, `end ${offset}`]));
  });

  it('of batches may return an Observable that is a Promise, too: it is over when it completes', async () => {
    const { processBatches } = processWorld(6, { latencyMs: 0 });
    const store = new PlainStore();
    const result = (): HandlerResult => Object.assign(of('one', 'two'), { then: () => undefined });
    await lastValueFrom(processBatches(result, { store, name, batch: { size: 2, withinMs: 0 } }, { endInclusive: 6 }));
    expect(offsets(store.saves)).toEqual([0, 2, 4, 6]);
  });

  it.each<[string, () => unknown, RegExp]>([
    ['a generator, which has not run', () => generate(), /generator/],
    ['an array of Promises', () => [Promise.resolve()], /array of Promises/],
  ])('fails if it returns %s', (_, result, message) => {
    const { error } = marbles(({ flush }) => {
      const { process } = processWorld(3);
      const seen = observe(process(() => result() as HandlerResult, { onHandlerFailure: 'stop' }));
      flush();
      return seen;
    });
    expect(String((error as { readonly cause?: unknown } | undefined)?.cause ?? error)).toMatch(message);
  });

  it('that returns Promises is stopped after the one that is awaited', async () => {
    const { process } = processWorld(200, { latencyMs: 0 });
    const controller = new AbortController();
    const begun: number[] = [];
    const handle = async ({ offset }: Work): Promise<void> => {
      begun.push(offset);
      await Promise.resolve();
      if (offset === 50) controller.abort();
    };
    const committed = await lastValueFrom(process(handle, { signal: controller.signal }));
    expect(begun).toEqual(upTo(50));
    expect(committed).toMatchObject({ offset: 50, handled: 50 });
  });

  it('that returns an async iterable has each step of it within the interceptions, which end with it', async () => {
    const log: string[] = [];
    let within = 0;
    const handler = (): Interception => ({
      run: (work) => {
        within += 1;
        work();
        within -= 1;
      },
      end: ({ how }) => void log.push(how),
    });
    const { process } = processWorld(2, { latencyMs: 0, client: { interceptors: [{ handler }] } });
    const handle = async function* ({ offset }: Work): AsyncGenerator {
      log.push(`begins within ${within}`);
      yield offset;
      log.push(`goes on within ${within}`);
      await Promise.resolve();
      if (offset === 2) throw new Error('mine');
    };
    const run = lastValueFrom(process(handle, { handlerRetry: { giveUpAfterMs: 0 } }, { endInclusive: 2 }));
    await expect(run).rejects.toMatchObject({ _tag: 'HandlerError', offset: 2 });
    const steps = ['begins within 1', 'goes on within 1'];
    expect(log).toEqual([...steps, 'completed', ...steps, 'failed']);
  });

  it('gets no checkpoint, but the cursor moves past it', () => {
    const { handled, store } = run({
      updates: 0,
      prepare: ({ ledger }) => {
        ledger.append(3, transaction(3));
        ledger.append(5, checkpoint(5));
      },
    });
    expect(handled).toEqual([3]);
    expect(store.cursor).toMatchObject({ offset: 5, lastUpdate: { offset: 3, updateId: '12203' } });
  });

  it('gets the selected updates, and the cursor moves past the others', () => {
    const { handled, store, seen } = run({ options: { select: ({ offset }) => offset === 5 } });
    expect(handled).toEqual([5]);
    expect(store.cursor).toMatchObject({ offset: 10, lastUpdate: { offset: 10 } });
    expect(seen.values.map(({ offset, handled: count }) => [offset, count])).toContainEqual([10, 1]);
  });

  it('gets updates of unknown variants', () => {
    const tags: Work['_tag'][] = [];
    run({
      updates: 0,
      prepare: ({ ledger }) => {
        ledger.append(1, unknownVariant(1));
      },
      handle: ({ _tag }) => void tags.push(_tag),
    });
    expect(tags).toEqual(['UnknownUpdate']);
  });
});

describe('a query that runs each time that its then() is called, as those of query builders do', () => {
  /** Runs on each call of `then`. */
  const lazily = (run: () => void): PromiseLike<void> => ({
    then: (onValue, onError) => Promise.resolve().then(run).then(onValue, onError),
  });

  it.each(['no interceptor', 'an interceptor'])('runs once for each update, with %s', async (kind) => {
    const interceptors: Interceptor[] = kind === 'no interceptor' ? [] : [{ handler: () => ({}) }];
    const { process } = processWorld(5, { latencyMs: 0, client: { interceptors } });
    const ran: number[] = [];
    const handle = ({ offset }: Work): PromiseLike<void> => lazily(() => void ran.push(offset));
    const store = memoryStore();
    await lastValueFrom(process(handle, { store, name }, { endInclusive: 5 }));
    // when another run gets the name, everything of this one has ended
    await lastValueFrom(process(handle, { store, name }, { endInclusive: 5 }));
    expect(ran).toEqual(upTo(5));
  });

  it('saves each cursor once', async () => {
    const { process } = processWorld(5, { latencyMs: 0 });
    const saved: number[] = [];
    const store: CheckpointStore = {
      load: () => lazily(() => undefined),
      save: (_, { offset }) => lazily(() => void saved.push(offset)),
    };
    await lastValueFrom(process(() => undefined, { store, name, commitEvery: { updates: 1 } }, { endInclusive: 5 }));
    await lastValueFrom(process(() => undefined, { store: memoryStore(), name }, { endInclusive: 5 }));
    expect(saved).toEqual([0, ...upTo(5)]);
  });
});

describe('the cursor', () => {
  it('moves past offsets without an update of the request', () => {
    const prepare = ({ ledger }: ProcessWorld): void => {
      ledger.end = 5_000;
    };
    expect(run({ updates: 3, prepare }).store.cursor).toMatchObject({ offset: 5_000, lastUpdate: { offset: 3 } });
  });

  it('is not saved repeatedly while nothing happens', () => {
    const { store, seen } = run({ updates: 3, ms: 3_600_000 });
    // at the start, and after the page
    expect(offsets(store.saves)).toEqual([0, 3]);
    expect(seen.values.length).toBeLessThan(5);
  });

  it('has what is needed to verify it after a restart, also on a page over plain HTTP, without crypto.subtle', () => {
    jest.spyOn(crypto, 'subtle', 'get').mockReturnValue(undefined as never);
    expect(run({ updates: 3 }).store.cursor).toEqual({
      version: 1,
      offset: 3,
      lastUpdate: { offset: 3, updateId: '12203' },
      recordTimes: { 'sync1::1220ab': { recordTime: '2026-07-24T10:00:00Z', updateId: '12203' } },
      participantId: 'participant1::1220ab',
      selection: expect.stringMatching(/^fnv1a:[0-9a-f]{16}$/),
    });
  });

  it('is emitted first, with or without a store', () => {
    const request = { beginExclusive: 4 };
    const stored = run({ updates: 9, request });
    const again = run({ updates: 9, store: stored.store });
    marbles(({ flush }) => {
      const unstored = observe(processWorld(9).process(recordingHandler().handle, {}, request).pipe(until(1_000)));
      flush();
      const begin = { offset: 4, recordTimes: {}, handled: 0, isCaughtUp: false };
      expect(unstored.values[0]).toEqual(begin);
      expect(stored.seen.values[0]).toEqual(begin);
    });
    expect(again.seen.values[0]).toMatchObject({ offset: 9, handled: 0 });
    expect(stored.store.saves).toHaveLength(2);
  });

  it('has the latest record time of each synchronizer, which never decreases', () => {
    const { seen } = run({
      updates: 0,
      prepare: ({ ledger }) => {
        ledger.append(1, timed(1, '2026-01-01T10:00:00.5Z', 'a'));
        ledger.append(2, timed(2, '2026-01-01T10:00:00Z', 'a'));
        ledger.append(3, timed(3, '2025-01-01T10:00:00Z', 'b'));
      },
      options: { commitEvery: { updates: 1 } },
    });
    const latest = seen.values.filter(({ handled }) => handled > 0).map(({ recordTimes }) => recordTimes);
    expect(latest).toEqual([
      { a: '2026-01-01T10:00:00.5Z' },
      { a: '2026-01-01T10:00:00.5Z' },
      { a: '2026-01-01T10:00:00.5Z', b: '2025-01-01T10:00:00Z' },
    ]);
  });

  it('has the times of checkpoints in commits, not in the cursor, which they prove nothing about', () => {
    const world = {
      updates: 0,
      prepare: ({ ledger }: ProcessWorld) => {
        ledger.append(1, timed(1, '2026-01-01T10:00:00Z', synchronizerId));
        ledger.append(2, checkpoint(2, '2026-01-01T10:00:07Z'));
        ledger.append(3, timed(3, '2026-01-01T10:00:02Z', 'other'));
        ledger.append(4, checkpoint(4, '2026-01-01T10:00:05Z'));
      },
      options: { commitEvery: { updates: 1 } },
    };
    const { seen, store } = run(world);
    const times = seen.values.map(({ recordTimes }) => recordTimes[synchronizerId]);
    const latest = '2026-01-01T10:00:07Z';
    expect(times.slice(0, 5)).toEqual([undefined, '2026-01-01T10:00:00Z', latest, latest, latest]);
    expect(seen.values.at(-1)?.recordTimes).toEqual({ [synchronizerId]: latest, other: '2026-01-01T10:00:02Z' });
    expect(store.cursor?.recordTimes[synchronizerId]).toEqual({
      recordTime: '2026-01-01T10:00:00Z',
      updateId: '12201',
    });
  });
});

describe('commits', () => {
  it('follow a number of updates, and the end of a page', () => {
    const { store, seen } = run({ updates: 25, options: { maxPageSize: 10, commitEvery: { updates: 4 } } });
    const expected = [4, 8, 10, 14, 18, 19, 23, 25];
    expect(offsets(store.saves)).toEqual([0, ...expected]);
    const commits = seen.values.filter(({ handled }) => handled > 0);
    expect(offsets(commits)).toEqual(expected);
    expect(commits.map(({ handled }) => handled)).toEqual([4, 4, 2, 4, 4, 1, 4, 2]);
    expect(commits.map(({ isCaughtUp }) => isCaughtUp)).toEqual([...Array<boolean>(7).fill(false), true]);
  });

  it.each([
    ['that time has passed', 100, { commitEvery: { ms: 250 } }],
    ['a second has passed, by default', 400, {}],
  ])('follow the update that is being handled when %s', (_, handlerMs, options) => {
    expect(offsets(run({ handlerMs, options }).store.saves)).toEqual([0, 3, 6, 9, 10]);
  });

  it('are emitted after the save', () => {
    const { seen } = run({
      ...{ updates: 3, handlerMs: 100, store: new PlainStore(undefined, 70) },
      options: { commitEvery: { updates: 1 } },
    });
    const times = seen.values.flatMap(({ handled }, i) => (handled > 0 ? [seen.times[i] ?? 0] : []));
    expect(times.map((at) => at - (times[0] ?? 0))).toEqual([0, 170, 340]);
  });

  it('end with the request', () => {
    const session = (endInclusive: number, store = new PlainStore()) =>
      run({ updates: 500, store, request: { endInclusive } });
    const { seen, handled, store } = session(300);
    expect(seen).toMatchObject({ completed: true, error: undefined });
    expect(seen.values.at(-1)).toMatchObject({ offset: 300 });
    expect(handled).toEqual(upTo(300));
    for (const end of [300, 200])
      expect(session(end, store)).toMatchObject({ handled: [], seen: { completed: true, error: undefined } });
  });
});
