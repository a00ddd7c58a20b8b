import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, NEVER, takeUntil, timer } from 'rxjs';
import type { LedgerError } from '../../src/errors/LedgerError.js';
import { observe, offsets } from '../helpers/observe.js';
import type { Reply } from '../helpers/scripted.js';
import { fill, upTo, world } from '../helpers/world.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';
import { errorBody, errorReply, ok, transaction } from '../helpers/wire.js';

const isPage = (path: string): boolean => path.startsWith('/v2/updates');

beforeEach(() => {
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const transient: readonly (readonly [string, Reply])[] = [
  ['a connection that breaks', new Error('socket hang up')],
  ['503 of the ledger', errorReply(503, errorBody('SERVICE_NOT_RUNNING', 1))],
  ['503 in plain text', errorReply(503, 'The server was not able to produce a timely response to your request.')],
  ['409 back-pressure', errorReply(409, errorBody('PARTICIPANT_BACKPRESSURE', 2))],
  ['504', errorReply(504, errorBody('REQUEST_TIME_OUT', 3))],
  ['502 of a proxy', errorReply(502, '<html>Bad Gateway</html>')],
  ['429', errorReply(429, '')],
  ['500 of a proxy', errorReply(500, 'Internal Server Error')],
  ['a truncated body', { status: 200, headers: {}, text: '[{"update":{"Trans' }],
  ['an empty body', { status: 200, headers: {}, text: '' }],
  ['a stale authorization', errorReply(409, errorBody('STALE_STREAM_AUTHORIZATION', 2))],
];

const permanent: readonly (readonly [string, Reply, LedgerError['_tag']])[] = [
  ['400 of the ledger', errorReply(400, errorBody('INVALID_ARGUMENT', 8)), 'ApiError'],
  ['400 in plain text', errorReply(400, 'Invalid value for: body'), 'ApiError'],
  ['403 without details', errorReply(403, errorBody('NA', -1)), 'ApiError'],
  ['500 without details', errorReply(500, errorBody('NA', -1)), 'ApiError'],
  ['400 security alert without details', errorReply(400, errorBody('NA', -1)), 'ApiError'],
  ['404 of an unknown package', errorReply(404, errorBody('PACKAGE_NAMES_NOT_FOUND', 11)), 'ApiError'],
  ['413 of the HTTP layer', errorReply(413, 'exceeded size limit (8388608 bytes)!'), 'ApiError'],
  ['a valid page with another status', errorReply(302, [transaction(1)]), 'ApiError'],
  ['an object in place of the list', ok(errorBody('INVALID_ARGUMENT', 8)), 'DecodeError'],
  ['an error body as an element', ok([errorBody('INVALID_ARGUMENT', 8)]), 'DecodeError'],
];

/** The virtual clock. */
const clock = (): number => asyncScheduler.now();

describe('a transient failure', () => {
  it.each(transient)('is retried from the cursor: %s (G3)', (_, reply) => {
    marbles(({ flush }) => {
      // every second page or poll fails
      const { ledger, feed } = world({
        latencyMs: 5,
        fault: ({ path }, n) => (isPage(path) && n % 2 === 0 ? reply : undefined),
      });
      fill(ledger, ...upTo(1_000));
      const seen = observe(feed().pipe(takeUntil(timer(60_000))));
      timer(30_000).subscribe(() => {
        fill(ledger, 1_001);
      });
      flush();
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.values)).toEqual(upTo(1_001));
    });
  });

  itInVirtualTime('is retried with exponential back-off and full jitter, up to the longest delay', ({ flush }) => {
    const at: number[] = [];
    const start = clock();
    const { feed } = world({
      fault: () => {
        at.push(clock() - start);
        return errorReply(503, errorBody('SERVICE_NOT_RUNNING', 1));
      },
    });
    observe(feed({}, { retry: { baseDelayMs: 100, maxDelayMs: 1_000, giveUpAfterMs: 3_000 } }));
    flush();
    // half of 100, 200, 400, 800, and of 1 000 from then on; one last retry when the budget is used up
    expect(at).toEqual([0, 50, 150, 350, 750, 1_250, 1_750, 2_250, 2_750, 3_000]);
  });

  itInVirtualTime('is delivered at once without a retry budget', ({ flush }) => {
    const { feed, service } = world({ fault: () => errorReply(503, 'no') });
    const seen = observe(feed({}, { retry: { giveUpAfterMs: 0 } }));
    flush();
    expect(seen.error).toMatchObject({ _tag: 'ApiError', status: 503 });
    expect(seen.error).not.toHaveProperty('retried');
    expect(service.requests).toHaveLength(1);
  });

  itInVirtualTime('is delivered when the retry budget is used up without a healthy answer (G3)', ({ flush }) => {
    const { feed, service } = world({ fault: () => errorReply(503, 'no') });
    const seen = observe(feed());
    flush();
    expect(seen.error).toMatchObject({ _tag: 'ApiError', status: 503 });
    expect(seen.endedAt).toBeGreaterThan(250_000);
    expect(seen.endedAt).toBeLessThanOrEqual(300_000);
    expect(service.open).toBe(0);
    // with the number and the time of the retries
    const times = service.requests.length - 1;
    expect(seen.error).toMatchObject({ retried: { times, forMs: 300_000 } });
    expect(String(seen.error)).toContain(`Retried: ${times} times in 300000 ms`);
  });

  itInVirtualTime('has its retry budget renewed only by a healthy answer', ({ flush }) => {
    const retry = { giveUpAfterMs: 10_000, maxDelayMs: 500 };
    const start = clock();
    // down for nine seconds in every ten
    const up = world({
      latencyMs: 5,
      client: { retry },
      fault: () => ((clock() - start) % 10_000 < 9_000 ? errorReply(503, 'no') : undefined),
    });
    const healthy = observe(up.feed().pipe(takeUntil(timer(600_000))));
    // a page that breaks off is not healthy, though the ledger end is
    const broken = { status: 200, headers: {}, text: '[{' };
    const page = world({ client: { retry }, fault: ({ path }) => (isPage(path) ? broken : undefined) });
    fill(page.ledger, 10);
    const flapping = observe(page.feed());
    flush();
    expect(healthy.error).toBeUndefined();
    expect(flapping.error).toMatchObject({ _tag: 'ConnectionError' });
    expect(flapping.endedAt).toBeLessThanOrEqual(10_000);
  });

  itInVirtualTime('is retried after the delay that the service asks for', ({ flush }) => {
    const { feed, service } = world({
      fault: (_, n) => (n === 1 ? errorReply(429, '', { 'retry-after': '7' }) : undefined),
    });
    observe(feed().pipe(takeUntil(timer(6_999))));
    flush();
    expect(service.requests).toHaveLength(1);
  });

  itInVirtualTime('leaves no timer when the feed is unsubscribed from before the retry', ({ flush }) => {
    const { feed, service } = world({ fault: () => errorReply(503, 'no') });
    const { subscription } = observe(feed());
    timer(1_000).subscribe(() => {
      subscription.unsubscribe();
    });
    flush();
    const sent = service.requests.length;
    timer(100_000).subscribe();
    flush();
    expect(service.requests).toHaveLength(sent);
  });

  itInVirtualTime('may be a missing answer: the request is aborted and sent again (G2)', ({ flush }) => {
    const { ledger, feed, service } = world({ latencyMs: 5, fault: (_, n) => (n === 2 ? NEVER : undefined) });
    fill(ledger, 1);
    const seen = observe(feed().pipe(takeUntil(timer(60_000))));
    flush();
    expect(offsets(seen.values)).toEqual([1]);
    expect(seen.times[0]).toBeGreaterThan(30_000);
    expect(seen.times[0]).toBeLessThan(31_000);
    expect(service.aborted.length).toBeGreaterThanOrEqual(1);
  });
});

describe('a permanent failure', () => {
  it.each(permanent)('ends the feed at once, after one request: %s (G5)', (_, reply, tag) => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({
        latencyMs: 5,
        fault: ({ path }) => (isPage(path) ? reply : undefined),
      });
      fill(ledger, 1);
      const seen = observe(feed());
      flush();
      expect(seen.error).toMatchObject({ _tag: tag });
      expect(service.requests).toHaveLength(2);
    });
  });

  itInVirtualTime('never carries the payload', ({ flush }) => {
    const { feed, ledger } = world({
      fault: ({ path }) =>
        isPage(path) ? ok([{ update: { Transaction: { value: { secret: 'hush' } } } }]) : undefined,
    });
    fill(ledger, 1);
    const seen = observe(feed());
    flush();
    expect(seen.error).toMatchObject({ _tag: 'DecodeError' });
    expect(JSON.stringify(seen.error) + String(seen.error)).not.toContain('hush');
  });
});

describe('a gap', () => {
  const pruned = errorReply(400, errorBody('PARTICIPANT_PRUNED_DATA_ACCESSED', 9, { earliest_offset: '25' }));

  itInVirtualTime('by pruning ends the feed with the earliest offset, also in mid-stream (G17)', ({ flush }) => {
    const { ledger, feed } = world({
      latencyMs: 5,
      fault: ({ path, body }) => (isPage(path) && body['beginExclusive'] === 200 ? pruned : undefined),
    });
    fill(ledger, ...upTo(500));
    const seen = observe(feed());
    flush();
    expect(offsets(seen.values)).toEqual(upTo(200));
    expect(seen.error).toMatchObject({ _tag: 'PrunedError', earliestOffset: 25 });
  });

  itInVirtualTime('by a cursor after the ledger end is a reset after a grace period (G18)', ({ flush }) => {
    const { ledger, feed, service } = world({ latencyMs: 5 });
    fill(ledger, 10);
    const seen = observe(feed({ beginExclusive: 40 }));
    flush();
    expect(seen.error).toMatchObject({ _tag: 'LedgerResetError', cursor: 40, ledgerEnd: 10 });
    expect(seen.endedAt).toBeGreaterThan(3_000);
    expect(seen.endedAt).toBeLessThanOrEqual(10_100);
    expect(service.requests.length).toBeLessThan(25);
  });

  itInVirtualTime('that closes within the grace period is ignored', ({ flush }) => {
    const { ledger, feed } = world({ latencyMs: 5 });
    const seen = observe(feed({ beginExclusive: 40 }).pipe(takeUntil(timer(60_000))));
    timer(3_000).subscribe(() => {
      fill(ledger, 40, 41);
    });
    flush();
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual([41]);
  });

  itInVirtualTime('by a participant that was restored while the feed follows is a reset', ({ flush }) => {
    const { ledger, feed } = world({ latencyMs: 5 });
    fill(ledger, 1, 2, 3);
    const seen = observe(feed());
    timer(2_000).subscribe(() => {
      ledger.end = 2;
    });
    flush();
    expect(offsets(seen.values)).toEqual([1, 2, 3]);
    expect(seen.error).toMatchObject({ _tag: 'LedgerResetError', cursor: 3 });
  });
});
