import { describe, expect, it } from '@jest/globals';
import { takeUntil, timer } from 'rxjs';
import type { Diagnostic } from '../../../src/diagnostics/Diagnostic.js';
import { observe, offsets } from '../../helpers/observe.js';
import { fill, upTo, world } from '../../helpers/world.js';
import { marbles } from '../../helpers/time.js';
import { errorReply, notFound, ok } from '../../helpers/wire.js';
import { describeError } from './errors.js';
import { findFlaws, findMissing, findReplacementFlaws } from './flaws.js';
import { play } from './play.js';
import type { FaultRule, Schedule } from './Schedule.js';

const isEnd = (path: string): boolean => path.endsWith('ledger-end');

describe('bugs that the campaign found', () => {
  it('a diagnostic of a page reports no update after the bound, which is not emitted', () => {
    marbles(({ flush }) => {
      const { ledger, client, feed } = world({ latencyMs: 5 });
      const events: Diagnostic[] = [];
      client.diagnostics$.subscribe((event) => events.push(event));
      const seen = observe(feed({ endInclusive: 1 }));
      timer(1_000).subscribe(() => {
        fill(ledger, 2);
      });
      flush();
      expect(seen.completed).toBe(true);
      expect(seen.values).toEqual([]);
      const pages = events.flatMap((event) => (event._tag === 'PageReceived' && event.count > 0 ? [event] : []));
      expect(pages).toHaveLength(1);
      expect(pages[0]).not.toHaveProperty('first');
      expect(pages[0]).not.toHaveProperty('last');
    });
  });

  it('a reset between two pages is reported after one grace period, not after one for each request', () => {
    marbles(({ flush }) => {
      const { ledger, feed } = world({ latencyMs: 5 });
      fill(ledger, ...upTo(10));
      const seen = observe(feed({}, { maxPageSize: 2, retry: { giveUpAfterMs: 10_000 } }));
      // 10 ms for the ledger end, and then 5 ms for each page of two
      timer(12).subscribe(() => {
        ledger.restore(0);
      });
      flush();
      expect(seen.error).toMatchObject({ _tag: 'LedgerResetError', ledgerEnd: 0 });
      expect(seen.endedAt).toBeGreaterThan(10_000);
      expect(seen.endedAt).toBeLessThan(15_000);
    });
  });

  it('the retry budget is not renewed each time that a page after the ledger end is requested', () => {
    marbles(({ flush }) => {
      const { ledger, feed } = world({
        latencyMs: 5,
        // the end of the first replica is never reached, and no replica reports another
        fault: ({ path }, n) => {
          if (isEnd(path)) return n === 1 ? ok({ offset: 100 }) : errorReply(503, 'down');
          return undefined;
        },
      });
      fill(ledger, 1);
      const seen = observe(feed({}, { retry: { giveUpAfterMs: 10_000 } }));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'ApiError', status: 503 });
      expect(seen.endedAt).toBeLessThanOrEqual(11_000);
    });
  });

  // with some latencies a page is open at the end of the minute after which the feed requests the end again
  it.each([300, 400, 500, 600, 700, 800])(
    'a bounded feed without retries survives a service without a ledger end: %i',
    (latencyMs) => {
      marbles(({ flush }) => {
        const { ledger, feed } = world({ latencyMs, hasLedgerEnd: false });
        fill(ledger, 1);
        const seen = observe(feed({ endInclusive: 2 }, { idleTimeoutMs: 400, retry: { giveUpAfterMs: 0 } }));
        timer(200_000).subscribe(() => {
          fill(ledger, 2);
        });
        flush();
        expect(seen.error).toBeUndefined();
        expect(offsets(seen.values)).toEqual([1, 2]);
        expect(seen.completed).toBe(true);
      });
    },
  );

  // this feed or another one of the ledger finds out that the service does not serve its end
  it.each([false, true])('ranges after an unknown end are not read ahead repeatedly: %p', (isOther) => {
    marbles(({ flush }) => {
      let isEndHidden = false;
      const { ledger, service, feed } = world({
        latencyMs: 5,
        fault: ({ path }) => (isEnd(path) && isEndHidden ? notFound : undefined),
      });
      fill(ledger, ...upTo(30));
      const options = { maxPageSize: 10, parallelRanges: 16 };
      const seen = observe(feed({ endInclusive: 100_000 }, options).pipe(takeUntil(timer(50_000))));
      let before = 0;
      // in the middle of a poll
      timer(7_000).subscribe(() => {
        isEndHidden = true;
        before = service.requests.length;
        if (isOther) observe(feed({ beginExclusive: 30 }).pipe(takeUntil(timer(10))));
      });
      flush();
      expect(offsets(seen.values)).toEqual(upTo(30));
      // without the proof after the outage, which is up to the cursor
      const bounds = service.requests
        .slice(before)
        .flatMap(({ body }) => body['endInclusive'] ?? [])
        .filter((bound) => bound !== 30);
      expect(bounds.length).toBeGreaterThan(3);
      expect(new Set(bounds)).toEqual(new Set([100_000]));
    });
  });
});

describe('what the model took for a flaw of the feed', () => {
  const within = (fromMs: number, forMs: number, fault: FaultRule['fault']): FaultRule => ({
    ...{ on: 'any', when: { fromMs, forMs } },
    fault,
  });
  const at = (request: number, on: FaultRule['on'], fault: FaultRule['fault']): FaultRule => ({
    ...{ on, when: { request } },
    fault,
  });

  it.each<readonly [string, Schedule]>([
    [
      // a prefetched page without an update ID cannot be looked up
      'a page that is read again in parts requests the same rest of its range as before the outage',
      scheduleOf([1, 1, 1, 1, 921, 1, 3_185, 1, 1, 1, 1, 1, 4_360, 3_856, 1_446, 1_973, 862, 296, 720, 555], {
        ...{ withoutId: 12, maxPageSize: 12, parallelRanges: 16, jitter: 408_998_953 },
        faults: [
          within(8_630, 4_658, { kind: 'reset', afterMs: 0 }),
          within(14_769, 2_382, { kind: 'twice' }),
          at(22, 'any', { kind: 'status', status: '501 path', afterMs: 0 }),
          within(16_174, 3_008, { kind: 'cut', at: 893 }),
          at(1, 'any', { kind: 'never' }),
          at(12, 'bounded', { kind: 'status', status: '429 seconds', afterMs: 0 }),
          at(34, 'page', { kind: 'reset', afterMs: 2_000 }),
          within(5_756, 4_924, { kind: 'reset', afterMs: 2_000 }),
        ],
      }),
    ],
    [
      'a prefetched page is not found, reading it again fails, and then it is found: it need not be read again',
      scheduleOf([1, 1, 1, 1, 1, 1, 1, 1, 586, 1, 1, 1, 2_482, 1_997, 1_000], {
        ...{ latencyMs: 1, spreadMs: 500, maxListElements: 13, maxPageSize: 23, parallelRanges: 3, socketFaults: null },
        faults: [
          at(15, 'bounded', { kind: 'status', status: '400 not yet', afterMs: 0 }),
          at(27, 'page', { kind: 'reset', afterMs: 0 }),
          at(9, 'page', { kind: 'status', status: '429 date', afterMs: 0 }),
          at(2, 'bounded', { kind: 'status', status: '404 path', afterMs: 0 }),
          at(22, 'page', { kind: 'status', status: '429 seconds', afterMs: 0 }),
          at(25, 'bounded', { kind: 'status', status: '409 back-pressure', afterMs: 0 }),
        ],
        lag: { fromMs: 5_421, forMs: 546, by: 2 },
      }),
    ],
    [
      'a page of one update without an ID is read again, which is no look-up of that update',
      scheduleOf([69, 1, 1, 1, 268, 1, 1, 1, 753], {
        ...{ withoutId: 7, profile: '3.6 gone', maxListElements: 2, maxPageSize: 6 },
        faults: [within(913, 9_199, { kind: 'never' })],
        lag: { fromMs: 20_000, forMs: 3_133, by: 46 },
      }),
    ],
    [
      'after a silent socket, a page does not decode, and the proof that it waits for need not',
      scheduleOf([], {
        ledger: [1, 0].map((afterMs) => ({ gap: 1, sample: 0, afterMs })),
        ...{ known: 0, latencyMs: 1, maxListElements: 1, maxPageSize: 1, parallelRanges: 1 },
        faults: [within(8_010, 11_995, { kind: 'undecodable', at: 0 })],
        socketFaults: [{ socket: 1, fault: { kind: 'silent', after: 1 } }],
      }),
    ],
    [
      'the only update does not decode while it is looked up: with its own ID, it is no other ledger',
      scheduleOf([], {
        ledger: [{ gap: 1, sample: 0, afterMs: 1 }],
        ...{ known: 0, latencyMs: 1, maxListElements: 1, maxPageSize: 1, parallelRanges: 1 },
        faults: [within(20_956, 9_548, { kind: 'undecodable', at: 0 })],
      }),
    ],
    [
      'after timeouts, a feed that reads one range after the other passes narrow ranges without an update',
      scheduleOf([], {
        ledger: [
          ...Array.from({ length: 15 }, (__, i) => ({ gap: 1, sample: i === 14 ? 77 : 0, afterMs: 0 })),
          { gap: 1, sample: 0, afterMs: 1_604 },
          { gap: 4_416, sample: 0, afterMs: 0 },
        ],
        ...{ known: 15, begin: 380, latencyMs: 1, parallelRanges: 1, socketFaults: null },
        faults: [
          at(17, 'any', { kind: 'reset', afterMs: 0 }),
          at(13, 'any', { kind: 'reset', afterMs: 0 }),
          at(6, 'any', { kind: 'late', byMs: 15_958 }),
          at(4, 'any', { kind: 'late', byMs: 15_774 }),
          at(26, 'any', { kind: 'reset', afterMs: 0 }),
        ],
      }),
    ],
    [
      'the token for the proof after an outage fails, so that the proof is not even requested',
      scheduleOf([1, 1, 1, 1, 1, 1, 7, 3_734, 758, 1, 334, 5, 4_805, 35, 2_426, 3_408, 4_103, 1, 28], {
        ...{ bound: 54_216, spreadMs: 500, maxPageSize: 20, parallelRanges: 16, socketFaults: null },
        ...{ profile: '3.6 gone', changes: [{ kind: 'restart', atMs: 2, maxListElements: 18 }] },
        faults: [
          at(35, 'any', { kind: 'status', status: '429 redacted', afterMs: 0 }),
          { ...within(3, 11_750, { kind: 'status', status: '429 redacted', afterMs: 0 }), on: 'end' },
        ],
        token: {
          ...{ validMs: 19_936, cachedMs: 13_890, refusal: '401 redacted' },
          trouble: { kind: 'fails', fromMs: 15_989, forMs: 3_504 },
        },
      }),
    ],
    [
      'the tokens for the rest of a page and for the proof fail, one after the other',
      scheduleOf([32, 3_247, 35, 1, 4_862, 1, 14, 31, 2_925, 37, 34, 26, 1, 1, 1, 1_188, 4_494, 29, 4_338, 3_589], {
        ...{ latencyMs: 1, spreadMs: 500, maxPageSize: 16, parallelRanges: null, profile: '3.6 gone' },
        faults: [at(4, 'bounded', { kind: 'status', status: '503 text', afterMs: 0 })],
        token: {
          ...{ validMs: 20_814, cachedMs: 11_992, refusal: '409 expired' },
          trouble: { kind: 'fails', fromMs: 1_077, forMs: 5_808 },
        },
      }),
    ],
  ])('%s', (_, schedule) => {
    const outcome = play(schedule);
    const { error } = outcome.seen;
    expect(findFlaws(outcome)).toEqual([]);
    if (error === undefined) expect(findMissing(outcome)).toEqual([]);
    else expect(describeError(error)).toContain('DecodeError');
  });

  it('a slow service with one update a page needs long for another ledger that is longer', () => {
    const growth = Array.from({ length: 200 }, () => ({ gap: 1, sample: 0, afterMs: 0 }));
    const replaced = play(
      scheduleOf([1, 1], {
        ...{ spreadMs: 500, maxListElements: 1, maxPageSize: 1, parallelRanges: 1, socketFaults: null },
        changes: [{ kind: 'replace', atMs: 10, downMs: 1_000, shared: 0, growth, isOtherParticipant: false }],
      }),
    );
    expect(replaced.violations).toEqual([]);
    expect(findReplacementFlaws(replaced)).toEqual([]);
  });
});

describe('a ledger that changes while a feed reads ahead', () => {
  it('ends before the target after it was restored, and stays there: its end is read again', () => {
    const outcome = play(
      scheduleOf([], {
        ledger: [
          [1, 10],
          [2317, 57],
          [4438, 71],
          [3378, 17],
          [9, 26],
          [33, 82],
          [2762, 72],
          [1, 82],
          [1217, 54],
          [1877, 18],
          [1921, 55],
          [1, 30],
          [154, 54],
          [4667, 45],
        ]
          .map(toEntry)
          .map((entry, i) => ({ ...entry, afterMs: i === 11 ? 2_277 : 1 })),
        ...{ known: 11, latencyMs: 400, spreadMs: 500, maxListElements: 22, maxPageSize: 8, parallelRanges: 5 },
        ...{
          idleTimeoutMs: 5_000,
          giveUpAfterMs: 10_000,
          socketFaults: null,
          profile: '3.6 gone',
          changes: [{ kind: 'restore', atMs: 6_103, back: 7 }],
        },
      }),
    );
    expect(findFlaws(outcome)).toEqual([]);
    expect(findMissing(outcome)).toEqual([]);
  });

  it('a page that was read ahead ends with an update without an ID, and only what is before that is on the next ledger', () => {
    const growth = [
      [1, 59],
      [3_640, 46],
    ].map(toEntry);
    const ledger = [
      [913, 48],
      [5, 1],
      [2326, 94],
      [6, 65],
      [1, 5],
      [730, 8],
      [4993, 62],
      [1, 5],
      [17, 7],
      [13, 45],
      [1, 93],
      [1, 9],
      [1456, 3],
      [3091, 5],
      [153, 44],
      [1, 58],
      [16, 90],
      [1, 19],
      [18, 92],
      [1, 68],
      [2371, 2],
      [11, 76],
      [35, 13],
      [28, 0],
      [40, 27],
      [1, 91],
      [2111, 92],
      [1, 30],
      [1, 72],
      [2845, 24],
      [4680, 43],
      [4992, null],
    ].map(toEntry);
    const replaced = play(
      scheduleOf([], {
        ...{ ledger, known: ledger.length, latencyMs: 60, maxListElements: 35, maxPageSize: 12, parallelRanges: 5 },
        ...{ idleTimeoutMs: 1_500, giveUpAfterMs: 30_000, socketFaults: null },
        changes: [{ kind: 'replace', atMs: 359, downMs: 1_004, shared: 600, growth, isOtherParticipant: false }],
      }),
    );
    expect(findReplacementFlaws(replaced)).toEqual([]);
  });
});

/** A schedule in which the feed follows from the beginning of a ledger that has these gaps between its updates. */
function scheduleOf(
  gaps: readonly number[],
  { withoutId, ...changes }: Partial<Schedule> & { readonly withoutId?: number },
): Schedule {
  return {
    ledger: gaps.map((gap, i) => ({ gap, sample: i === withoutId ? 77 : 0, afterMs: 0 })),
    ...{ changes: [], known: gaps.length, begin: 0, bound: null, isDownward: false, isLegacy: false, profile: '3.4' },
    ...{ latencyMs: 400, spreadMs: 0, jitter: 0, checkpointMs: null, lag: null, token: null, onGap: null },
    ...{ maxListElements: 40, maxPageSize: 10, parallelRanges: 2, idleTimeoutMs: 1, giveUpAfterMs: 1_000_000 },
    ...{ faults: [], socketFaults: [] },
    ...changes,
  };
}

/** An update after a gap, with a number for its content. */
function toEntry([gap = 1, sample = 0]: readonly (number | null)[]) {
  return { gap: gap ?? 1, sample, afterMs: 1 };
}
