import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, map, timer } from 'rxjs';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import { offsets } from '../helpers/observe.js';
import type { ServiceRequest } from '../helpers/scripted.js';
import { errorBody, errorReply, invalid, notFound, ok, transaction } from '../helpers/wire.js';
import { upTo } from '../helpers/world.js';
import { every, isBounded, isEnd, play, playRanges, rangesOf } from './worlds.js';

const size = { maxPageSize: 10 };
const four = { ...size, parallelRanges: 4 };
const isRange = (request: ServiceRequest, begin: number): boolean =>
  isBounded(request) && request.body['beginExclusive'] === begin;
const from = (begin: number, count: number): number[] => upTo(count).map((n) => begin + n);
const down = errorReply(503, 'down');
const tooLarge = errorReply(413, errorBody('JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED', 2));

afterEach(() => {
  jest.restoreAllMocks();
});

describe('ranges that are read in parallel', () => {
  it('are emitted in order, whatever the order of their answers (G7)', () => {
    // answers arrive in the reverse order of the requests
    const { seen, service } = playRanges(
      { latencyOf: (n) => 100 - ((n * 13) % 90) },
      { updates: upTo(300), request: { endInclusive: 300 }, options: { ...size, parallelRanges: 7 } },
    );
    expect(offsets(seen.values)).toEqual(upTo(300));
    expect(seen.completed).toBe(true);
    expect(service.open).toBe(0);
  });

  it.each([1, 2, 3, 5, 16, undefined])('are at most so many at the same time: %p', (parallelRanges) => {
    const { seen, mostOpen } = playRanges(
      { latencyOf: (n) => 30 + ((n * 7) % 40) },
      { updates: every(3, 600), options: { ...size, parallelRanges }, forMs: 60_000 },
    );
    expect(offsets(seen.values)).toEqual(every(3, 600));
    expect(mostOpen).toBeLessThanOrEqual(parallelRanges ?? 16);
    expect(mostOpen).toBeGreaterThanOrEqual(parallelRanges ?? 12);
  });

  it('are held until they are due, and no others are requested', () => {
    // the first range takes much longer than the others
    let before: ServiceRequest[] = [];
    const { seen } = playRanges(
      { latencyOf: (n) => (n === 3 ? 10_000 : 5) },
      {
        updates: upTo(300),
        request: { endInclusive: 300 },
        options: four,
        at: {
          9_000: ({ service }) => {
            before = [...service.requests];
          },
        },
      },
    );
    // the first page, its own three and the head
    expect(rangesOf(before)).toEqual([
      [0, 300],
      // begins with the last update
      [9, 19],
      [19, 29],
      [29, 39],
      [39, 49],
    ]);
    expect(seen.times[9]).toBeLessThan(100);
    expect(seen.times[10]).toBeGreaterThan(9_000);
    expect(offsets(seen.values)).toEqual(upTo(300));
  });

  it('make catching up as many times faster', () => {
    const tookWith = (parallelRanges: number): number | undefined =>
      play(
        { latencyMs: 100 },
        { updates: upTo(1_000), request: { endInclusive: 1_000 }, options: { ...size, parallelRanges } },
      ).seen.endedAt;
    expect(tookWith(10)).toBeLessThan((tookWith(1) ?? 0) / 8);
  });

  it('are requested after the page before has been emitted, if there is one at a time', () => {
    const requestedAt: number[] = [];
    const { seen } = playRanges(
      {
        latencyOf: () => 5,
        onRequest: (request) => {
          if (isBounded(request)) requestedAt.push(asyncScheduler.now());
        },
      },
      { updates: upTo(100), request: { endInclusive: 100 }, options: { ...size, parallelRanges: 1 } },
    );
    expect(requestedAt).toHaveLength(11);
    expect(requestedAt.slice(1).every((at, page) => at >= (seen.times[9 * page + 9] ?? Infinity))).toBe(true);
  });

  it('are all aborted with the feed, and leave no timer (G24)', () => {
    const { service } = playRanges(
      { latencyOf: (n) => (n > 2 ? 50 : 5) },
      { updates: upTo(300), options: { ...size, parallelRanges: 6 }, forMs: 30 },
    );
    expect(service.open).toBe(0);
    expect(service.aborted).toHaveLength(6);
    expect(service.requests).toHaveLength(8);
  });

  it('have pages that are nearly full if updates are rare', () => {
    const rare = Array.from({ length: 10_000 }, (_, i) => i * 50 + ((i * 7_919) % 50) + 1);
    const request = { endInclusive: Math.max(...rare) };
    const { seen, service } = play({ latencyMs: 50 }, { updates: rare, request, options: { parallelRanges: 8 } });
    expect(offsets(seen.values)).toEqual(rare);
    // 50 full pages, and for each range a proof that it has no more
    expect(service.requests.filter(({ query }) => query['limit'] === '200').length).toBeLessThan(50 / 0.8);
    expect(service.requests.length).toBeLessThan(130);
  });

  it.each([2, 16])('lose nothing between dense and sparse parts of the ledger: %i', (parallelRanges) => {
    const all = [...upTo(300), ...every(5_000, 10).map((n) => 1_000 + n), ...from(60_000, 300), 900_000];
    const { seen, service, mostOpen } = playRanges(
      { latencyOf: (n) => 20 + ((n * 7) % 10) },
      { updates: all, request: { endInclusive: 900_000 }, options: { ...size, parallelRanges } },
    );
    expect(offsets(seen.values)).toEqual(all);
    expect(mostOpen).toBeLessThanOrEqual(parallelRanges);
    // one after the other: 63
    expect(service.requests.length).toBeLessThan(300);
  });

  it('have whole offsets if the limit of pages is odd', () => {
    const rare = every(37, 1_000);
    const request = { endInclusive: rare.at(-1) ?? 0 };
    const options = { maxPageSize: 41, parallelRanges: 4 };
    const { seen, service } = play({ latencyMs: 10 }, { updates: rare, request, options });
    expect(offsets(seen.values)).toEqual(rare);
    expect(rangesOf(service.requests).flat().every(Number.isSafeInteger)).toBe(true);
  });

  it('are as wide as the gap before other ranges, so that no page of it is empty', () => {
    const burst = [...every(1_000, 5), ...from(5_100, 30), ...every(1_000, 20).map((n) => 10_000 + n)];
    const { seen, service } = play(
      { latencyMs: 10 },
      { updates: burst, request: { endInclusive: 30_000 }, options: { maxPageSize: 1, parallelRanges: 5 } },
    );
    expect(offsets(seen.values)).toEqual(burst);
    // one after the other: one for each update; smaller ranges of the gap would be empty every second time
    expect(service.requests.length).toBeLessThan(100);
  });

  it('grow fast while nothing matches', () => {
    const { service } = play(
      { latencyMs: 10 },
      {
        options: { parallelRanges: 2 },
        forMs: 60_000,
        at: { 0: ({ ledger }) => (ledger.end = 7), 20_000: ({ ledger }) => (ledger.end = 1_000_000_000) },
      },
    );
    expect(service.requests.at(-1)?.body['beginExclusive']).toBe(1_000_000_000);
    expect(service.requests.filter(isBounded).length).toBeLessThan(30);
  });
});

describe('a prefetched range', () => {
  it('holds back later ranges until it is proven to be complete', () => {
    const updates = [...upTo(10), 12, 14, ...from(20, 40)];
    const { seen, service } = playRanges(
      // the proof is slow
      { latencyOf: (_, { body }) => ([13, 14].includes(Number(body['beginExclusive'])) ? 1_000 : 5) },
      { updates, request: { endInclusive: 60 }, options: four },
    );
    expect(offsets(seen.values)).toEqual(updates);
    expect(rangesOf(service.requests)).toContainEqual([14, 19]);
    // the page itself is not held back that long
    expect(seen.times[11]).toBeLessThan(1_000);
    expect(seen.times[12]).toBeGreaterThan(1_000);
  });

  it.each([2, 3, 7])('loses nothing if the service silently sends only %i elements (G6)', (sent) => {
    const { seen, mostOpen } = playRanges(
      {
        latencyOf: () => 5,
        fault: (request, { ledger }) => {
          if (!isBounded(request)) return undefined;
          const { beginExclusive, endInclusive } = request.body;
          const limit = Math.min(sent, Number(request.query['limit']));
          return ledger.page(ledger.between(Number(beginExclusive), Number(endInclusive)).slice(0, limit));
        },
      },
      { updates: upTo(100), request: { endInclusive: 100 }, options: four },
    );
    expect(offsets(seen.values)).toEqual(upTo(100));
    expect(mostOpen).toBe(4);
  });

  it('that fails is requested again alone when it is due, and the others are kept', () => {
    let failures = 0;
    const { seen, service } = playRanges(
      {
        latencyOf: (_, request) => (isRange(request, 9) ? 50 : 5),
        fault: (request) => (isRange(request, 19) && (failures += 1) < 3 ? down : undefined),
      },
      { updates: upTo(50), request: { endInclusive: 50 }, options: four },
    );
    expect(offsets(seen.values)).toEqual(upTo(50));
    expect(rangesOf(service.requests)).toEqual([
      [0, 50],
      [9, 19],
      [19, 29],
      [29, 39],
      [39, 49],
      // after the failure of the prefetch: the last update of the page is still there, and so is the last one before it
      [18, 19],
      [9, 10],
      // the range again, and the one after the others; the first begins with the last update, and has no room for all
      [18, 29],
      [49, 50],
      [27, 29],
      // those of the pages that were requested before the failures, too
      [38, 39],
      [48, 49],
    ]);
  });

  it('that fails is not requested again before it is due, however many pages are emitted before', () => {
    let requested = 0;
    const { seen } = playRanges(
      {
        // answers arrive in the reverse order of the requests, and look-ups of one update at once
        latencyOf: (_, request) =>
          isRange(request, 39) || request.query['limit'] === '1'
            ? 5
            : 10 * (1 + Number(request.body['beginExclusive'] ?? 0)),
        fault: (request) => (isRange(request, 39) ? down : undefined),
      },
      {
        updates: upTo(50),
        request: { endInclusive: 50 },
        options: four,
        forMs: 340,
        at: {
          325: ({ service }) => {
            requested = rangesOf(service.requests).filter(([begin]) => begin === 39).length;
          },
        },
      },
    );
    expect(offsets(seen.values)).toEqual(upTo(39));
    expect(requested).toBe(1);
  });

  it('is aborted at once if the ledger ends before it, as on a replica that lags', () => {
    const lagging = errorReply(400, errorBody('OFFSET_AFTER_LEDGER_END', 12));
    const open: number[] = [];
    const { seen } = playRanges(
      {
        latencyOf: (_, request) => {
          if (isBounded(request) && Number(request.body['beginExclusive']) > 10) return 10_000;
          return isEnd(request) ? 500 : 50;
        },
        fault: (request) => (isRange(request, 9) ? lagging : undefined),
      },
      {
        updates: upTo(50),
        request: { endInclusive: 50 },
        options: four,
        forMs: 1_200,
        at: {
          // before and after the answer of the range that is due, while the ledger end is requested
          590: ({ service }) => open.push(service.open),
          700: ({ service }) => open.push(service.open),
        },
      },
    );
    expect(offsets(seen.values)).toEqual(upTo(10));
    expect(open).toEqual([4, 1]);
  });

  it('that is too large reduces the limit of all later ones', () => {
    const { seen, service, mostOpen } = playRanges(
      { latencyOf: () => 5, fault: ({ query }) => (Number(query['limit']) > 3 ? tooLarge : undefined) },
      { updates: upTo(60), request: { endInclusive: 60 }, options: four },
    );
    expect(offsets(seen.values)).toEqual(upTo(60));
    // two to learn it, and then one at a time that tries twice as many, ever less often
    expect(service.requests.filter(({ query }) => Number(query['limit']) > 3)).toHaveLength(5);
    expect(mostOpen).toBeLessThanOrEqual(4);
  });

  it('adds no requests to a service that is down', () => {
    // the same delays in both runs
    jest.spyOn(Math, 'random').mockReturnValue(0.5);
    const requestsWith = (parallelRanges: number): number => {
      let count = 0;
      const fault = () => {
        const ms = asyncScheduler.now();
        if (ms > 1_000) count += 1;
        return ms > 12 ? down : undefined;
      };
      play(
        { client: { retry: { giveUpAfterMs: 1_000_000 } }, fault },
        { updates: upTo(1_000), options: { ...size, parallelRanges }, forMs: 300_000 },
      );
      return count;
    };
    expect(requestsWith(16)).toBeLessThan(requestsWith(1) * 1.5);
  });

  it.each([
    [
      'that does not decode',
      () => [transaction(30), invalid(31), transaction(32)],
      { _tag: 'DecodeError', offset: 31 },
      30,
    ],
    ['out of order', () => [transaction(32), transaction(31)], { _tag: 'OrderError' }, 29],
    ['that leads nowhere', () => [transaction(29)], { _tag: 'OrderError' }, 29],
  ])('ends the feed with a page %s only after the updates before it (G7)', (_, page, error, last) => {
    const { seen, service } = playRanges(
      {
        latencyOf: (_n, request) => (isRange(request, 9) ? 500 : 5),
        fault: (request) => (isRange(request, 29) ? ok(page()) : undefined),
      },
      { updates: upTo(60), request: { endInclusive: 60 }, options: four },
    );
    expect(seen.endedAt).toBeGreaterThan(500);
    expect(offsets(seen.values)).toEqual(upTo(last));
    expect(seen.error).toMatchObject(error);
    expect(service.open).toBe(0);
    // the failure is already known
    expect(rangesOf(service.requests).filter(([begin]) => begin === 29)).toHaveLength(1);
  });

  it('reports once what several answers have in common', () => {
    const diagnostics: Diagnostic[] = [];
    const { seen } = play(
      {
        fault: (request, n) => {
          if (n < 6 || isEnd(request)) return undefined;
          if (request.path.endsWith('flats')) return timer(5).pipe(map(() => notFound));
          return Number(request.query['limit']) > 50 ? timer(5).pipe(map(() => tooLarge)) : undefined;
        },
      },
      {
        updates: upTo(2_000),
        request: { endInclusive: 2_000 },
        options: { parallelRanges: 8, maxPageSize: 100 },
        diagnostics,
      },
    );
    expect(offsets(seen.values)).toEqual(upTo(2_000));
    expect(diagnostics.filter(({ _tag }) => _tag === 'EndpointSwitched')).toHaveLength(1);
    expect(diagnostics.filter(({ _tag }) => _tag === 'PageLimitLearned')).toHaveLength(1);
  });

  it('does not shorten later ranges if only the rest of a range is slow', () => {
    const slow = timer(1_500).pipe(map(() => errorReply(503, 'not able to produce a timely response')));
    const { seen, service } = play(
      {
        latencyMs: 2_000,
        // but not the look-up of one update, after which nothing has changed
        fault: ({ query }) => (Number(query['limit']) < 100 && query['limit'] !== '1' ? slow : undefined),
      },
      {
        updates: every(7, 3_000),
        request: { endInclusive: 21_000 },
        options: { maxPageSize: 100, parallelRanges: 4 },
      },
    );
    expect(offsets(seen.values)).toEqual(every(7, 3_000));
    expect(service.requests.length).toBeLessThan(200);
  });
});
