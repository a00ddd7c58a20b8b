import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ignoreElements, lastValueFrom, of, timer } from 'rxjs';
import type { Work } from '../../src/process/ProcessOptions.js';
import { marbles } from '../helpers/marbles.js';
import { observe, offsets } from '../helpers/observe.js';
import { fill, upTo } from '../helpers/world.js';
import { checkpoint, novelty, transaction } from '../helpers/wire.js';
import { hashAtOnce, name, PlainStore, until, worker, workshop } from './support.js';

beforeEach(() => {
  hashAtOnce();
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** A transaction of a time, of a synchronizer of its own. */
const timed = (offset: number, recordTime: string, synchronizerId: string): object =>
  JSON.parse(
    JSON.stringify(transaction(offset))
      .replace(/"recordTime":"[^"]*"/, `"recordTime":"${recordTime}"`)
      .replace(/"synchronizerId":"[^"]*"/, `"synchronizerId":"${synchronizerId}"`),
  ) as object;

describe('a handler', () => {
  it('gets each update once, in order, and only when it is done with the one before', () => {
    marbles(({ flush }) => {
      const { ledger, work } = workshop(450);
      const { handled, begun, handle } = worker(3);
      let most = 0;
      const seen = observe(
        work((update) => {
          most = Math.max(most, begun.length - handled.length);
          return handle(update);
        }).pipe(until(30_000)),
      );
      timer(20_000).subscribe(() => {
        fill(ledger, 451, 452);
      });
      flush();
      expect(handled).toEqual(upTo(452));
      expect(begun).toEqual(handled);
      expect(most).toBe(0);
      expect(seen.values.at(-1)).toMatchObject({ offset: 452 });
    });
  });

  it.each<[string, (act: () => number) => unknown]>([
    ['a Promise', (act) => Promise.resolve().then(act)],
    [
      'an async generator',
      async function* (act) {
        await Promise.resolve();
        yield 'something';
        act();
      },
    ],
    ['a value', (act): number => act()],
    ['a list, which is a value', (act) => [act()]],
    ['an Observable', (act) => of(act())],
    ['an Observable that emits nothing', (act) => of(act()).pipe(ignoreElements())],
  ])('may return %s', async (_, how) => {
    const { work } = workshop(7, { latencyMs: 0 });
    const begun: number[] = [];
    const done: number[] = [];
    const last = await lastValueFrom(
      work(
        ({ offset }) => {
          begun.push(offset);
          expect(done).toHaveLength(begun.length - 1);
          return how(() => done.push(offset));
        },
        {},
        { endInclusive: 7 },
      ),
    );
    expect(done).toEqual(upTo(7));
    expect(last).toMatchObject({ offset: 7, handled: 7 });
  });

  it('never sees a checkpoint, but the place moves on over it', () => {
    marbles(({ flush }) => {
      const { ledger, work } = workshop();
      const store = new PlainStore();
      ledger.append(3, transaction(3));
      ledger.append(5, checkpoint(5));
      const { handled, handle } = worker();
      observe(work(handle, { store, name }).pipe(until(1_000)));
      flush();
      expect(handled).toEqual([3]);
      expect(store.cursor).toMatchObject({ offset: 5, lastUpdate: { offset: 3, updateId: '12203' } });
    });
  });

  it('gets what is selected, and the place moves on over the rest', () => {
    marbles(({ flush }) => {
      const { work } = workshop(10);
      const store = new PlainStore();
      const { handled, handle } = worker();
      const seen = observe(
        work(handle, { store, name, select: ({ offset }) => offset % 5 === 0 && offset < 10 }).pipe(until(1_000)),
      );
      flush();
      expect(handled).toEqual([5]);
      expect(store.cursor).toMatchObject({ offset: 10, lastUpdate: { offset: 10 } });
      expect(seen.values.map(({ offset, handled: count }) => [offset, count])).toContainEqual([10, 1]);
    });
  });

  it('gets variants that nobody knows', () => {
    marbles(({ flush }) => {
      const { ledger, work } = workshop();
      ledger.append(1, novelty(1));
      const tags: Work['_tag'][] = [];
      observe(work(({ _tag }) => tags.push(_tag)).pipe(until(1_000)));
      flush();
      expect(tags).toEqual(['UnknownUpdate']);
    });
  });
});

describe('the place', () => {
  it('moves on over what matches nothing', () => {
    marbles(({ flush }) => {
      const { ledger, work } = workshop(3);
      ledger.end = 5_000;
      const store = new PlainStore();
      observe(work(worker().handle, { store, name }).pipe(until(1_000)));
      flush();
      expect(store.cursor).toMatchObject({ offset: 5_000, lastUpdate: { offset: 3 } });
    });
  });

  it('is not saved again and again while nothing happens', () => {
    marbles(({ flush }) => {
      const { work } = workshop(3);
      const store = new PlainStore();
      const seen = observe(work(worker().handle, { store, name }).pipe(until(3_600_000)));
      flush();
      // where it begins, and behind the page
      expect(store.saves.map(({ offset }) => offset)).toEqual([0, 3]);
      expect(seen.values.length).toBeLessThan(5);
    });
  });

  it('is kept with all that tells whether it is still the right one', () => {
    marbles(({ flush }) => {
      const { work } = workshop(3);
      const store = new PlainStore();
      observe(work(worker().handle, { store, name }).pipe(until(1_000)));
      flush();
      expect(store.cursor).toEqual({
        version: 1,
        offset: 3,
        lastUpdate: { offset: 3, updateId: '12203' },
        recordTimes: { 'sync1::1220ab': '2026-07-24T10:00:00Z' },
        participantId: 'participant1::1220ab',
        selection: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      });
    });
  });

  it('is told first where it begins, stored or not', () => {
    marbles(({ flush }) => {
      const { work } = workshop(9);
      const unstored = observe(work(worker().handle, {}, { beginExclusive: 4 }).pipe(until(1_000)));
      const store = new PlainStore();
      const stored = observe(work(worker().handle, { store, name }, { beginExclusive: 4 }).pipe(until(1_000)));
      flush();
      const again = observe(work(worker().handle, { store, name }).pipe(until(1_000)));
      flush();
      const begin = { offset: 4, recordTimes: {}, handled: 0, isCaughtUp: false };
      expect(unstored.values[0]).toEqual(begin);
      expect(stored.values[0]).toEqual(begin);
      expect(again.values[0]).toMatchObject({ offset: 9, handled: 0 });
      expect(store.saves).toHaveLength(2);
    });
  });

  it('is told with the latest record time of each synchronizer, which never goes back', () => {
    marbles(({ flush }) => {
      const { ledger, work } = workshop();
      ledger.append(1, timed(1, '2026-01-01T10:00:00.5Z', 'a'));
      ledger.append(2, timed(2, '2026-01-01T10:00:00Z', 'a'));
      ledger.append(3, timed(3, '2025-01-01T10:00:00Z', 'b'));
      const seen = observe(work(worker().handle, { commitEvery: { updates: 1 } }).pipe(until(1_000)));
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
  it('come behind so many updates, and behind the page', () => {
    marbles(({ flush }) => {
      const { work } = workshop(25);
      const store = new PlainStore();
      const options = { store, name, maxPageSize: 10, commitEvery: { updates: 4 } };
      const seen = observe(work(worker().handle, options).pipe(until(1_000)));
      flush();
      const expected = [4, 8, 10, 14, 18, 20, 24, 25];
      expect(offsets(store.saves)).toEqual([0, ...expected]);
      const told = seen.values.filter(({ handled }) => handled > 0);
      expect(offsets(told)).toEqual(expected);
      expect(told.map(({ handled }) => handled)).toEqual([4, 4, 2, 4, 4, 2, 4, 1]);
      expect(told.map(({ isCaughtUp }) => isCaughtUp)).toEqual([...Array<boolean>(7).fill(false), true]);
    });
  });

  it('come behind the update that is handled when so much time is over', () => {
    marbles(({ flush }) => {
      const { work } = workshop(10);
      const store = new PlainStore();
      observe(work(worker(100).handle, { store, name, commitEvery: { ms: 250 } }).pipe(until(5_000)));
      flush();
      expect(offsets(store.saves)).toEqual([0, 3, 6, 9, 10]);
    });
  });

  it('come every second by default', () => {
    marbles(({ flush }) => {
      const { work } = workshop(10);
      const store = new PlainStore();
      observe(work(worker(400).handle, { store, name }).pipe(until(10_000)));
      flush();
      expect(offsets(store.saves)).toEqual([0, 3, 6, 9, 10]);
    });
  });

  it('are told when they are made', () => {
    marbles(({ flush }) => {
      const { work } = workshop(3);
      const store = new PlainStore(undefined, 70);
      const seen = observe(work(worker(100).handle, { store, name, commitEvery: { updates: 1 } }).pipe(until(2_000)));
      flush();
      const told = seen.values.flatMap(({ handled }, i) => (handled > 0 ? [seen.times[i] ?? 0] : []));
      expect(told.map((at) => at - (told[0] ?? 0))).toEqual([0, 170, 340]);
    });
  });

  it('end with the request', () => {
    marbles(({ flush }) => {
      const { work, service } = workshop(500);
      const store = new PlainStore();
      const { handled, handle } = worker();
      const seen = observe(work(handle, { store, name }, { endInclusive: 300 }));
      flush();
      expect(seen).toMatchObject({ completed: true, error: undefined });
      expect(seen.values.at(-1)).toMatchObject({ offset: 300 });
      expect(handled).toEqual(upTo(300));
      expect(service.open).toBe(0);
      const again = observe(work(handle, { store, name }, { endInclusive: 300 }));
      const less = observe(work(handle, { store, name }, { endInclusive: 200 }));
      flush();
      expect(handled).toHaveLength(300);
      expect(again).toMatchObject({ completed: true, error: undefined });
      expect(less).toMatchObject({ completed: true, error: undefined });
    });
  });
});
