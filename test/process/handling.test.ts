import { describe, expect, it, jest } from '@jest/globals';
import { EMPTY, finalize, lastValueFrom, of, timer } from 'rxjs';
import type { Work, HandlerResult } from '../../src/process/ProcessOptions.js';
import { observe, offsets } from '../helpers/observe.js';
import { upTo } from '../helpers/world.js';
import { checkpoint, unknownVariant, transaction } from '../helpers/wire.js';
import { marbles } from '../helpers/time.js';
import { mockPlatform, name, PlainStore, until, recordingHandler, processWorld } from './support.js';

mockPlatform();

/** A transaction with a record time and a synchronizer. */
const timed = (offset: number, recordTime: string, synchronizerId: string): object =>
  JSON.parse(
    JSON.stringify(transaction(offset))
      .replace(/"recordTime":"[^"]*"/, `"recordTime":"${recordTime}"`)
      .replace(/"synchronizerId":"[^"]*"/, `"synchronizerId":"${synchronizerId}"`),
  ) as object;

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

  it('gets no checkpoint, but the cursor moves past it', () => {
    marbles(({ flush }) => {
      const { ledger, process } = processWorld();
      const store = new PlainStore();
      ledger.append(3, transaction(3));
      ledger.append(5, checkpoint(5));
      const { handled, handle } = recordingHandler();
      observe(process(handle, { store, name }).pipe(until(1_000)));
      flush();
      expect(handled).toEqual([3]);
      expect(store.cursor).toMatchObject({ offset: 5, lastUpdate: { offset: 3, updateId: '12203' } });
    });
  });

  it('gets the selected updates, and the cursor moves past the others', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(10);
      const store = new PlainStore();
      const { handled, handle } = recordingHandler();
      const seen = observe(
        process(handle, { store, name, select: ({ offset }) => offset % 5 === 0 && offset < 10 }).pipe(until(1_000)),
      );
      flush();
      expect(handled).toEqual([5]);
      expect(store.cursor).toMatchObject({ offset: 10, lastUpdate: { offset: 10 } });
      expect(seen.values.map(({ offset, handled: count }) => [offset, count])).toContainEqual([10, 1]);
    });
  });

  it('gets updates of unknown variants', () => {
    marbles(({ flush }) => {
      const { ledger, process } = processWorld();
      ledger.append(1, unknownVariant(1));
      const tags: Work['_tag'][] = [];
      observe(process(({ _tag }) => void tags.push(_tag)).pipe(until(1_000)));
      flush();
      expect(tags).toEqual(['UnknownUpdate']);
    });
  });
});

describe('the cursor', () => {
  it('moves past offsets without an update of the request', () => {
    marbles(({ flush }) => {
      const { ledger, process } = processWorld(3);
      ledger.end = 5_000;
      const store = new PlainStore();
      observe(process(recordingHandler().handle, { store, name }).pipe(until(1_000)));
      flush();
      expect(store.cursor).toMatchObject({ offset: 5_000, lastUpdate: { offset: 3 } });
    });
  });

  it('is not saved repeatedly while nothing happens', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(3);
      const store = new PlainStore();
      const seen = observe(process(recordingHandler().handle, { store, name }).pipe(until(3_600_000)));
      flush();
      // at the start, and after the page
      expect(store.saves.map(({ offset }) => offset)).toEqual([0, 3]);
      expect(seen.values.length).toBeLessThan(5);
    });
  });

  it('has what is needed to verify it after a restart', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(3);
      const store = new PlainStore();
      observe(process(recordingHandler().handle, { store, name }).pipe(until(1_000)));
      flush();
      expect(store.cursor).toEqual({
        version: 1,
        offset: 3,
        lastUpdate: { offset: 3, updateId: '12203' },
        recordTimes: { 'sync1::1220ab': '2026-07-24T10:00:00Z' },
        participantId: 'participant1::1220ab',
        selection: expect.stringMatching(/^fnv1a:[0-9a-f]{16}$/),
      });
    });
  });

  it('is saved on a page over plain HTTP, which has no crypto.subtle', () => {
    jest.spyOn(crypto, 'subtle', 'get').mockReturnValue(undefined as never);
    marbles(({ flush }) => {
      const { process } = processWorld(3);
      const store = new PlainStore();
      const seen = observe(process(recordingHandler().handle, { store, name }).pipe(until(1_000)));
      flush();
      expect(seen.error).toBeUndefined();
      expect(store.cursor).toMatchObject({ offset: 3 });
    });
  });

  it('is emitted first, with or without a store', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(9);
      const unstored = observe(process(recordingHandler().handle, {}, { beginExclusive: 4 }).pipe(until(1_000)));
      const store = new PlainStore();
      const stored = observe(
        process(recordingHandler().handle, { store, name }, { beginExclusive: 4 }).pipe(until(1_000)),
      );
      flush();
      const again = observe(process(recordingHandler().handle, { store, name }).pipe(until(1_000)));
      flush();
      const begin = { offset: 4, recordTimes: {}, handled: 0, isCaughtUp: false };
      expect(unstored.values[0]).toEqual(begin);
      expect(stored.values[0]).toEqual(begin);
      expect(again.values[0]).toMatchObject({ offset: 9, handled: 0 });
      expect(store.saves).toHaveLength(2);
    });
  });

  it('has the latest record time of each synchronizer, which never decreases', () => {
    marbles(({ flush }) => {
      const { ledger, process } = processWorld();
      ledger.append(1, timed(1, '2026-01-01T10:00:00.5Z', 'a'));
      ledger.append(2, timed(2, '2026-01-01T10:00:00Z', 'a'));
      ledger.append(3, timed(3, '2025-01-01T10:00:00Z', 'b'));
      const seen = observe(process(recordingHandler().handle, { commitEvery: { updates: 1 } }).pipe(until(1_000)));
      flush();
      const latest = seen.values.filter(({ handled }) => handled > 0).map(({ recordTimes }) => recordTimes);
      expect(latest).toEqual([
        { a: '2026-01-01T10:00:00.5Z' },
        { a: '2026-01-01T10:00:00.5Z' },
        { a: '2026-01-01T10:00:00.5Z', b: '2025-01-01T10:00:00Z' },
      ]);
    });
  });
});

describe('commits', () => {
  it('follow a number of updates, and the end of a page', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(25);
      const store = new PlainStore();
      const options = { store, name, maxPageSize: 10, commitEvery: { updates: 4 } };
      const seen = observe(process(recordingHandler().handle, options).pipe(until(1_000)));
      flush();
      const expected = [4, 8, 10, 14, 18, 20, 24, 25];
      expect(offsets(store.saves)).toEqual([0, ...expected]);
      const commits = seen.values.filter(({ handled }) => handled > 0);
      expect(offsets(commits)).toEqual(expected);
      expect(commits.map(({ handled }) => handled)).toEqual([4, 4, 2, 4, 4, 2, 4, 1]);
      expect(commits.map(({ isCaughtUp }) => isCaughtUp)).toEqual([...Array<boolean>(7).fill(false), true]);
    });
  });

  it.each([
    ['that time has passed', 100, { ms: 250 }],
    ['a second has passed, by default', 400, undefined],
  ])('follow the update that is being handled when %s', (_, durationMs, commitEvery) => {
    marbles(({ flush }) => {
      const { process } = processWorld(10);
      const store = new PlainStore();
      observe(process(recordingHandler(durationMs).handle, { store, name, commitEvery }).pipe(until(10_000)));
      flush();
      expect(offsets(store.saves)).toEqual([0, 3, 6, 9, 10]);
    });
  });

  it('are emitted after the save', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(3);
      const store = new PlainStore(undefined, 70);
      const seen = observe(
        process(recordingHandler(100).handle, { store, name, commitEvery: { updates: 1 } }).pipe(until(2_000)),
      );
      flush();
      const times = seen.values.flatMap(({ handled }, i) => (handled > 0 ? [seen.times[i] ?? 0] : []));
      expect(times.map((at) => at - (times[0] ?? 0))).toEqual([0, 170, 340]);
    });
  });

  it('end with the request', () => {
    marbles(({ flush }) => {
      const { process, service } = processWorld(500);
      const store = new PlainStore();
      const { handled, handle } = recordingHandler();
      const seen = observe(process(handle, { store, name }, { endInclusive: 300 }));
      flush();
      expect(seen).toMatchObject({ completed: true, error: undefined });
      expect(seen.values.at(-1)).toMatchObject({ offset: 300 });
      expect(handled).toEqual(upTo(300));
      expect(service.open).toBe(0);
      const again = observe(process(handle, { store, name }, { endInclusive: 300 }));
      flush();
      const less = observe(process(handle, { store, name }, { endInclusive: 200 }));
      flush();
      expect(handled).toHaveLength(300);
      expect(again).toMatchObject({ completed: true, error: undefined });
      expect(less).toMatchObject({ completed: true, error: undefined });
    });
  });
});
