import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, map, takeUntil, timer } from 'rxjs';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import { observe, offsets } from '../helpers/observe.js';
import type { ServiceRequest } from '../helpers/scripted.js';
import { fill, updateFormat, upTo, world } from '../helpers/world.js';
import { invalid, transaction, errorBody, errorReply, notFound, ok } from '../helpers/wire.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';
import { parallelWorld, every, isBounded, rangesOf } from './worlds.js';

const size = { maxPageSize: 10 };
const four = { ...size, parallelRanges: 4 };
const isRange = (request: ServiceRequest, begin: number): boolean =>
  isBounded(request) && request.body['beginExclusive'] === begin;
const from = (begin: number, count: number): number[] => upTo(count).map((n) => begin + n);

afterEach(() => {
  jest.restoreAllMocks();
});

describe('a prefetched range', () => {
  itInVirtualTime('holds back later ranges until it is proven to be complete', ({ flush }) => {
    const { feed, ledger, service } = parallelWorld({
      // the proof is slow
      latencyOf: (_, { body }) => (body['beginExclusive'] === 14 ? 1_000 : 5),
    });
    fill(ledger, ...upTo(10), 12, 14, ...from(20, 40));
    const seen = observe(feed({ endInclusive: 60 }, four));
    flush();
    expect(offsets(seen.values)).toEqual([...upTo(10), 12, 14, ...from(20, 40)]);
    expect(rangesOf(service.requests)).toContainEqual([14, 20]);
    // the page itself is not held back that long
    expect(seen.times[11]).toBeLessThan(1_000);
    expect(seen.times[12]).toBeGreaterThan(1_000);
  });

  it.each([1, 3, 7])('loses nothing if the service silently sends only %i elements (G6)', (sent) => {
    marbles(({ flush }) => {
      const {
        feed,
        ledger,
        mostOpen: most,
      } = parallelWorld({
        latencyOf: () => 5,
        fault: (request) => {
          if (!isBounded(request)) return undefined;
          const [begin, end] = [Number(request.body['beginExclusive']), Number(request.body['endInclusive'])];
          return ok(
            ledger
              .between(begin, end)
              .slice(0, Math.min(sent, Number(request.query['limit'])))
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

  itInVirtualTime('that fails is requested again alone when it is due, and the others are kept', ({ flush }) => {
    let failures = 0;
    const { feed, ledger, service } = parallelWorld({
      latencyOf: (_, request) => (isRange(request, 10) ? 50 : 5),
      fault: (request) => (isRange(request, 20) && (failures += 1) < 3 ? errorReply(503, 'down') : undefined),
    });
    fill(ledger, ...upTo(50));
    const seen = observe(feed({ endInclusive: 50 }, four));
    flush();
    expect(offsets(seen.values)).toEqual(upTo(50));
    expect(rangesOf(service.requests)).toEqual([
      [0, 50],
      [10, 20],
      [20, 30],
      [30, 40],
      [40, 50],
      // after the failure of the prefetch: the last update of the page is still there, and so is the last one before it
      [19, 20],
      [9, 10],
      [20, 30],
      [20, 30],
      [19, 20],
      // those of the pages that were requested before the failures, too
      [39, 40],
      [49, 50],
    ]);
  });

  itInVirtualTime(
    'that fails is not requested again before it is due, however many pages are emitted before',
    ({ flush }) => {
      const { feed, ledger, service } = parallelWorld({
        // answers arrive in the reverse order of the requests, and look-ups of one update at once
        latencyOf: (_, request) =>
          isRange(request, 40) || request.query['limit'] === '2'
            ? 5
            : 10 * (1 + Number(request.body['beginExclusive'] ?? 0)),
        fault: (request) => (isRange(request, 40) ? errorReply(503, 'down') : undefined),
      });
      fill(ledger, ...upTo(50));
      const requestsBy: number[] = [];
      const seen = observe(feed({ endInclusive: 50 }, four).pipe(takeUntil(timer(340))));
      for (const ms of [150, 250, 325])
        timer(ms).subscribe(() => requestsBy.push(rangesOf(service.requests).filter(([begin]) => begin === 40).length));
      flush();
      expect(offsets(seen.values)).toEqual(upTo(40));
      expect(requestsBy).toEqual([1, 1, 1]);
    },
  );

  itInVirtualTime('that is too large reduces the limit of all later ones', ({ flush }) => {
    const {
      feed,
      ledger,
      service,
      mostOpen: most,
    } = parallelWorld({
      latencyOf: () => 5,
      fault: ({ query }) =>
        Number(query['limit']) > 3
          ? errorReply(413, errorBody('JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED', 2))
          : undefined,
    });
    fill(ledger, ...upTo(60));
    const seen = observe(feed({ endInclusive: 60 }, four));
    flush();
    expect(offsets(seen.values)).toEqual(upTo(60));
    expect(service.requests.filter(({ query }) => Number(query['limit']) > 3)).toHaveLength(2);
    expect(most()).toBeLessThanOrEqual(4);
  });

  it('adds no requests to a service that is down', () => {
    // the same delays in both runs
    jest.spyOn(Math, 'random').mockReturnValue(0.5);
    const requestsWith = (parallelRanges: number): number => {
      let count = 0;
      marbles(({ flush }) => {
        const start = asyncScheduler.now();
        const { feed, ledger } = world({
          latencyMs: 5,
          client: { retry: { giveUpAfterMs: 1_000_000 } },
          fault: () => {
            const ms = asyncScheduler.now() - start;
            if (ms > 1_000) count += 1;
            return ms > 12 ? errorReply(503, 'down') : undefined;
          },
        });
        fill(ledger, ...upTo(1_000));
        observe(feed({}, { ...size, parallelRanges }).pipe(takeUntil(timer(300_000))));
        flush();
      });
      return count;
    };
    expect(requestsWith(16)).toBeLessThan(requestsWith(1) * 1.5);
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
  ])('ends the feed with a page %s only after the updates before it (G7)', (_, page, error, last) => {
    marbles(({ flush }) => {
      const { feed, ledger, service } = parallelWorld({
        latencyOf: (_n, request) => (isRange(request, 10) ? 500 : 5),
        fault: (request) => (isRange(request, 30) ? ok(page()) : undefined),
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
      // the failure is already known
      expect(rangesOf(service.requests).filter(([begin]) => begin === 30)).toHaveLength(1);
    });
  });

  itInVirtualTime('reports once what several answers have in common', ({ flush }) => {
    const diagnostics: Diagnostic[] = [];
    const tooLarge = errorReply(413, errorBody('JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED', 2));
    const { client, ledger } = world({
      latencyMs: 5,
      fault: ({ path, query }, n) => {
        if (n < 6 || path.endsWith('ledger-end')) return undefined;
        if (path.endsWith('flats')) return timer(5).pipe(map(() => notFound));
        return Number(query['limit']) > 50 ? timer(5).pipe(map(() => tooLarge)) : undefined;
      },
    });
    client.diagnostics$.subscribe((event) => diagnostics.push(event));
    fill(ledger, ...upTo(2_000));
    const request = { beginExclusive: 0, endInclusive: 2_000, updateFormat };
    const seen = observe(client.updates(request, { parallelRanges: 8, maxPageSize: 100 }));
    flush();
    expect(offsets(seen.values)).toEqual(upTo(2_000));
    expect(diagnostics.filter(({ _tag }) => _tag === 'EndpointSwitched')).toHaveLength(1);
    expect(diagnostics.filter(({ _tag }) => _tag === 'PageLimitLearned')).toHaveLength(1);
  });

  itInVirtualTime('does not shorten later ranges if only the rest of a range is slow', ({ flush }) => {
    const slow = timer(1_500).pipe(map(() => errorReply(503, 'not able to produce a timely response')));
    const { ledger, service, feed } = world({
      latencyMs: 2_000,
      // but not the look-up of one update, after which nothing has changed
      fault: ({ query }) => (Number(query['limit']) < 100 && query['limit'] !== '2' ? slow : undefined),
    });
    fill(ledger, ...every(7, 3_000));
    const seen = observe(feed({ endInclusive: 21_000 }, { maxPageSize: 100, parallelRanges: 4 }));
    flush();
    expect(offsets(seen.values)).toEqual(every(7, 3_000));
    expect(service.requests.length).toBeLessThan(200);
  });
});
