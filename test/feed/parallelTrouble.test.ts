import { describe, expect, it } from '@jest/globals';
import { asyncScheduler, map, takeUntil, timer } from 'rxjs';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import { marbles } from '../helpers/marbles.js';
import { observe, offsets } from '../helpers/observe.js';
import { canton, failed, notFound, ok, type Asked } from '../helpers/scripted.js';
import { fill, updateFormat, upTo, world } from '../helpers/world.js';
import { invalid, transaction } from '../helpers/wire.js';
import { ahead, every, isBounded, rangesOf } from './aheadWorld.js';

const size = { maxPageSize: 10 };
const four = { ...size, parallelRanges: 4 };
const isRange = (asked: Asked, begin: number): boolean => isBounded(asked) && asked.body['beginExclusive'] === begin;
const isEnd = ({ path }: Asked): boolean => path.endsWith('ledger-end');
const from = (begin: number, count: number): number[] => upTo(count).map((n) => begin + n);

describe('a range that is read ahead', () => {
  it('is continued inside where it comes back full', () => {
    marbles(({ flush }) => {
      const { feed, ledger, service } = ahead({ latencyOf: () => 5 });
      // the first page says that every other offset matches; then each does
      fill(ledger, ...every(2, 10), ...from(20, 80));
      const seen = observe(feed({ endInclusive: 100 }, four));
      flush();
      expect(offsets(seen.values)).toEqual([...every(2, 10), ...from(20, 80)]);
      const inside = rangesOf(service.asked).filter(([begin, end]) => end - begin < 10);
      expect(inside.length).toBeGreaterThan(0);
    });
  });

  it('shows nothing of what lies behind it before it is proven that nothing is missing in it', () => {
    marbles(({ flush }) => {
      const { feed, ledger, service } = ahead({
        // the proof takes long
        latencyOf: (_, { body }) => (body['beginExclusive'] === 14 ? 1_000 : 5),
      });
      fill(ledger, ...upTo(10), 12, 14, ...from(20, 40));
      const seen = observe(feed({ endInclusive: 60 }, four));
      flush();
      expect(offsets(seen.values)).toEqual([...upTo(10), 12, 14, ...from(20, 40)]);
      expect(rangesOf(service.asked)).toContainEqual([14, 20]);
      // what is there itself is not kept waiting that long
      expect(seen.times[11]).toBeLessThan(1_000);
      expect(seen.times[12]).toBeGreaterThan(1_000);
    });
  });

  it.each([1, 3, 7])('loses nothing of a service that silently sends only %i', (sent) => {
    marbles(({ flush }) => {
      const { feed, ledger, most } = ahead({
        latencyOf: () => 5,
        fault: (asked) => {
          if (!isBounded(asked)) return undefined;
          const [begin, end] = [Number(asked.body['beginExclusive']), Number(asked.body['endInclusive'])];
          return ok(
            ledger
              .between(begin, end)
              .slice(0, Math.min(sent, Number(asked.query['limit'])))
              .map(({ element }) => element),
          );
        },
      });
      fill(ledger, ...from(0, 100));
      const seen = observe(feed({ endInclusive: 100 }, four));
      flush();
      expect(offsets(seen.values)).toEqual(upTo(100));
      expect(most()).toBe(4);
    });
  });

  it('and fails is asked for again alone and in its turn, while the others are kept', () => {
    marbles(({ flush }) => {
      let failures = 0;
      const { feed, ledger, service } = ahead({
        latencyOf: (_, asked) => (isRange(asked, 10) ? 50 : 5),
        fault: (asked) => (isRange(asked, 20) && (failures += 1) < 3 ? failed(503, 'down') : undefined),
      });
      fill(ledger, ...upTo(50));
      const seen = observe(feed({ endInclusive: 50 }, four));
      flush();
      expect(offsets(seen.values)).toEqual(upTo(50));
      expect(rangesOf(service.asked)).toEqual([
        [0, 50],
        [10, 20],
        [20, 30],
        [30, 40],
        [40, 50],
        [20, 30],
        [20, 30],
      ]);
    });
  });

  it('and fails is left alone until its turn, however many pages are emitted before', () => {
    marbles(({ flush }) => {
      const { feed, ledger, service } = ahead({
        // one answer after the other, the last one first
        latencyOf: (_, asked) => (isRange(asked, 40) ? 5 : 10 * (1 + Number(asked.body['beginExclusive'] ?? 0))),
        fault: (asked) => (isRange(asked, 40) ? failed(503, 'down') : undefined),
      });
      fill(ledger, ...upTo(50));
      const askedBy: number[] = [];
      const seen = observe(feed({ endInclusive: 50 }, four).pipe(takeUntil(timer(340))));
      for (const ms of [150, 250, 325])
        timer(ms).subscribe(() => askedBy.push(rangesOf(service.asked).filter(([begin]) => begin === 40).length));
      flush();
      expect(offsets(seen.values)).toEqual(upTo(40));
      expect(askedBy).toEqual([1, 1, 1]);
    });
  });

  it('and whose proof fails shows what it has, and asks for the rest in its turn', () => {
    marbles(({ flush }) => {
      let failures = 0;
      const { feed, ledger, service } = ahead({
        latencyOf: () => 5,
        fault: (asked) =>
          isRange(asked, 15) && (failures += 1) < 2 ? failed(400, canton('INVALID_ARGUMENT', 8)) : undefined,
      });
      fill(ledger, ...upTo(10), 15, ...from(20, 20));
      const seen = observe(feed({ endInclusive: 40 }, four));
      flush();
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.values)).toEqual([...upTo(10), 15, ...from(20, 20)]);
      expect(rangesOf(service.asked).filter(([begin]) => begin === 15)).toHaveLength(2);
    });
  });

  it('and is refused as too large makes all later ones smaller', () => {
    marbles(({ flush }) => {
      const { feed, ledger, service, most } = ahead({
        latencyOf: () => 5,
        fault: ({ query }) =>
          Number(query['limit']) > 3
            ? failed(413, canton('JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED', 2))
            : undefined,
      });
      fill(ledger, ...upTo(60));
      const seen = observe(feed({ endInclusive: 60 }, four));
      flush();
      expect(offsets(seen.values)).toEqual(upTo(60));
      expect(service.asked.filter(({ query }) => Number(query['limit']) > 3)).toHaveLength(2);
      expect(most()).toBeLessThanOrEqual(4);
    });
  });

  it('asks a service that is down no more often than one that is not read ahead', () => {
    const askedWith = (parallelRanges: number): number => {
      let count = 0;
      marbles(({ flush }) => {
        const start = asyncScheduler.now();
        const { feed, ledger } = world({
          latencyMs: 5,
          client: { retry: { giveUpAfterMs: 1_000_000 } },
          fault: () => {
            const ms = asyncScheduler.now() - start;
            if (ms > 1_000) count += 1;
            return ms > 12 ? failed(503, 'down') : undefined;
          },
        });
        fill(ledger, ...upTo(1_000));
        observe(feed({}, { ...size, parallelRanges }).pipe(takeUntil(timer(300_000))));
        flush();
      });
      return count;
    };
    expect(askedWith(16)).toBeLessThan(askedWith(1) * 1.5);
  });

  it.each([
    [
      'that does not decode',
      () => [transaction(31), invalid(32), transaction(33)],
      { _tag: 'DecodeError', offset: 32 },
      31,
    ],
    ['out of order', () => [transaction(33), transaction(32)], { _tag: 'OrderError' }, 30],
    ['that leads nowhere', () => [transaction(30)], { _tag: 'OrderError' }, 30],
  ])('ends the feed with a page %s only after all that is before it', (_, page, error, last) => {
    marbles(({ flush }) => {
      const { feed, ledger, service } = ahead({
        latencyOf: (_n, asked) => (isRange(asked, 10) ? 500 : 5),
        fault: (asked) => (isRange(asked, 30) ? ok(page()) : undefined),
      });
      fill(ledger, ...upTo(60));
      const seen = observe(feed({ endInclusive: 60 }, four));
      timer(400).subscribe(() => {
        expect(seen.error).toBeUndefined();
      });
      flush();
      expect(offsets(seen.values)).toEqual(upTo(last));
      expect(seen.error).toMatchObject(error);
      expect(service.open).toBe(0);
      // what it is, is known already
      expect(rangesOf(service.asked).filter(([begin]) => begin === 30)).toHaveLength(1);
    });
  });

  it('and is pruned ends the feed only in its turn', () => {
    marbles(({ flush }) => {
      const pruned = failed(400, canton('PARTICIPANT_PRUNED_DATA_ACCESSED', 9, { earliest_offset: '45' }));
      const { feed, ledger } = ahead({
        latencyOf: (_, asked) => (isRange(asked, 10) ? 500 : 5),
        fault: (asked) => (isRange(asked, 30) ? pruned : undefined),
      });
      fill(ledger, ...upTo(60));
      const seen = observe(feed({ endInclusive: 60 }, four));
      flush();
      expect(offsets(seen.values)).toEqual(upTo(30));
      expect(seen.error).toMatchObject({ _tag: 'PrunedError', earliestOffset: 45 });
    });
  });

  it('outlives a replica that has not come as far', () => {
    marbles(({ flush }) => {
      const beyond = failed(400, canton('OFFSET_AFTER_LEDGER_END', 12));
      const { feed, ledger, most } = ahead({
        latencyOf: (n) => 5 + (n % 3),
        fault: (asked, n) => {
          if (n < 5 || n > 30) return undefined;
          if (isEnd(asked)) return ok({ offset: 70 });
          if (!isBounded(asked)) return ok([]);
          return Number(asked.body['endInclusive']) > 70 ? beyond : undefined;
        },
      });
      fill(ledger, ...upTo(200));
      const seen = observe(feed({ endInclusive: 200 }, four));
      flush();
      expect(offsets(seen.values)).toEqual(upTo(200));
      expect(seen.completed).toBe(true);
      expect(most()).toBeLessThanOrEqual(4);
    });
  });

  it('goes on at the other path where this one is not served any more', () => {
    marbles(({ flush }) => {
      const { feed, ledger, most } = ahead({
        latencyOf: () => 5,
        fault: ({ path }, n) => (path === '/v2/updates/flats' && n > 5 ? notFound : undefined),
      });
      fill(ledger, ...upTo(200));
      const seen = observe(feed({ endInclusive: 200 }, four));
      flush();
      expect(offsets(seen.values)).toEqual(upTo(200));
      expect(most()).toBeLessThanOrEqual(4);
    });
  });

  it('tells once what several answers teach', () => {
    marbles(({ flush }) => {
      const told: Diagnostic[] = [];
      const tooLarge = failed(413, canton('JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED', 2));
      const { client, ledger } = world({
        latencyMs: 5,
        fault: ({ path, query }, n) => {
          if (n < 6 || path.endsWith('ledger-end')) return undefined;
          if (path.endsWith('flats')) return timer(5).pipe(map(() => notFound));
          return Number(query['limit']) > 50 ? timer(5).pipe(map(() => tooLarge)) : undefined;
        },
      });
      client.diagnostics$.subscribe((event) => told.push(event));
      fill(ledger, ...upTo(2_000));
      const request = { beginExclusive: 0, endInclusive: 2_000, updateFormat };
      const seen = observe(client.updates(request, { parallelRanges: 8, maxPageSize: 100 }));
      flush();
      expect(offsets(seen.values)).toEqual(upTo(2_000));
      expect(told.filter(({ _tag }) => _tag === 'EndpointSwitched')).toHaveLength(1);
      expect(told.filter(({ _tag }) => _tag === 'PageLimitLearned')).toHaveLength(1);
    });
  });

  it('is no reason to reach less far if it is the rest of a range that is slow', () => {
    marbles(({ flush }) => {
      const slow = timer(1_500).pipe(map(() => failed(503, 'not able to produce a timely response')));
      const { ledger, service, feed } = world({
        latencyMs: 2_000,
        fault: ({ query }) => (Number(query['limit']) < 100 ? slow : undefined),
      });
      fill(ledger, ...every(7, 3_000));
      const seen = observe(feed({ endInclusive: 21_000 }, { maxPageSize: 100, parallelRanges: 4 }));
      flush();
      expect(offsets(seen.values)).toEqual(every(7, 3_000));
      expect(service.asked.length).toBeLessThan(200);
    });
  });
});
