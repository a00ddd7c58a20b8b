import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, map, NEVER, of, takeUntil, timer } from 'rxjs';
import { AnswerTooLargeError } from '../../src/errors/request.js';
import type { LedgerError } from '../../src/errors/LedgerError.js';
import { marbles } from '../helpers/marbles.js';
import { observe, offsets } from '../helpers/observe.js';
import { canton, failed, notFound, ok, type Reply } from '../helpers/scripted.js';
import { fill, updateFormat, upTo, world } from '../helpers/world.js';

const isPage = (path: string): boolean => path.startsWith('/v2/updates');

beforeEach(() => {
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const transient: readonly (readonly [string, Reply])[] = [
  ['a connection that breaks', new Error('socket hang up')],
  ['503 of the ledger', failed(503, canton('SERVICE_NOT_RUNNING', 1))],
  ['503 in plain text', failed(503, 'The server was not able to produce a timely response to your request.')],
  ['409 back-pressure', failed(409, canton('PARTICIPANT_BACKPRESSURE', 2))],
  ['504', failed(504, canton('REQUEST_TIME_OUT', 3))],
  ['502 of a proxy', failed(502, '<html>Bad Gateway</html>')],
  ['429', failed(429, '')],
  ['500 of a proxy', failed(500, 'Internal Server Error')],
  ['a truncated body', { status: 200, headers: {}, text: '[{"update":{"Trans' }],
  ['an empty body', { status: 200, headers: {}, text: '' }],
  ['a stale authorization', failed(409, canton('STALE_STREAM_AUTHORIZATION', 2))],
];

const permanent: readonly (readonly [string, Reply, LedgerError['_tag']])[] = [
  ['400 of the ledger', failed(400, canton('INVALID_ARGUMENT', 8)), 'ApiError'],
  ['400 in plain text', failed(400, 'Invalid value for: body'), 'ApiError'],
  ['403 that tells nothing', failed(403, canton('NA', -1)), 'ApiError'],
  ['500 that tells nothing', failed(500, canton('NA', -1)), 'ApiError'],
  ['400 security alert that tells nothing', failed(400, canton('NA', -1)), 'ApiError'],
  ['404 of an unknown package', failed(404, canton('PACKAGE_NAMES_NOT_FOUND', 11)), 'ApiError'],
  ['413 of the HTTP layer', failed(413, 'exceeded size limit (8388608 bytes)!'), 'ApiError'],
  ['an object in place of the list', ok(canton('INVALID_ARGUMENT', 8)), 'DecodeError'],
  ['an error body as an element', ok([canton('INVALID_ARGUMENT', 8)]), 'DecodeError'],
];

describe('a transient failure', () => {
  it.each(transient)('is retried from the cursor: %s', (_, reply) => {
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

  it('waits with exponential back-off and full jitter, up to the longest wait', () => {
    marbles(({ flush }) => {
      const at: number[] = [];
      const start = clock();
      const { feed } = world({
        fault: () => {
          at.push(clock() - start);
          return failed(503, canton('SERVICE_NOT_RUNNING', 1));
        },
      });
      observe(feed({}, { retry: { baseDelayMs: 100, maxDelayMs: 1_000, giveUpAfterMs: 3_000 } }));
      flush();
      // half of 100, 200, 400, 800, and of 1 000 from then on; once more when the time is over
      expect(at).toEqual([0, 50, 150, 350, 750, 1_250, 1_750, 2_250, 2_750, 3_000]);
    });
  });

  it('is delivered at once where no time is given', () => {
    marbles(({ flush }) => {
      const { feed, service } = world({ fault: () => failed(503, 'no') });
      const seen = observe(feed({}, { retry: { giveUpAfterMs: 0 } }));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'ApiError', status: 503 });
      expect(seen.error).not.toHaveProperty('retried');
      expect(service.asked).toHaveLength(1);
    });
  });

  it('is delivered when the time is over without a healthy answer', () => {
    marbles(({ flush }) => {
      const { feed, service } = world({ fault: () => failed(503, 'no') });
      const seen = observe(feed());
      flush();
      expect(seen.error).toMatchObject({ _tag: 'ApiError', status: 503 });
      expect(seen.endedAt).toBeGreaterThan(250_000);
      expect(seen.endedAt).toBeLessThanOrEqual(300_000);
      expect(service.open).toBe(0);
      // with how often and how long it was asked again
      const times = service.asked.length - 1;
      expect(seen.error).toMatchObject({ retried: { times, forMs: 300_000 } });
      expect(String(seen.error)).toContain(`Retried: ${times} times in 300000 ms`);
    });
  });

  it('has its time renewed by a healthy answer alone', () => {
    marbles(({ flush }) => {
      const retry = { giveUpAfterMs: 10_000, maxDelayMs: 500 };
      const start = clock();
      // down for nine seconds in every ten
      const up = world({
        latencyMs: 5,
        client: { retry },
        fault: () => ((clock() - start) % 10_000 < 9_000 ? failed(503, 'no') : undefined),
      });
      const healthy = observe(up.feed().pipe(takeUntil(timer(600_000))));
      // accepts, then breaks off: never a healthy answer
      const broken = { status: 200, headers: {}, text: '[{' };
      const flapping = observe(world({ client: { retry }, fault: () => broken }).feed());
      flush();
      expect(healthy.error).toBeUndefined();
      expect(flapping.error).toMatchObject({ _tag: 'ConnectionError' });
      expect(flapping.endedAt).toBeLessThanOrEqual(10_000);
    });
  });

  it('waits as long as the service asks', () => {
    marbles(({ flush }) => {
      const { feed, service } = world({
        fault: (_, n) => (n === 1 ? failed(429, '', { 'retry-after': '7' }) : undefined),
      });
      observe(feed().pipe(takeUntil(timer(6_999))));
      flush();
      expect(service.asked).toHaveLength(1);
    });
  });

  it('leaves no timer when it is unsubscribed while it waits', () => {
    marbles(({ flush }) => {
      const { feed, service } = world({ fault: () => failed(503, 'no') });
      const { subscription } = observe(feed());
      timer(1_000).subscribe(() => {
        subscription.unsubscribe();
      });
      flush();
      const asked = service.asked.length;
      timer(100_000).subscribe();
      flush();
      expect(service.asked).toHaveLength(asked);
    });
  });

  it('is an answer that does not come: the request is aborted and sent again', () => {
    marbles(({ flush }) => {
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
});

describe('a permanent failure', () => {
  it.each(permanent)('ends the feed at once, after one request: %s', (_, reply, tag) => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({
        latencyMs: 5,
        fault: ({ path }) => (isPage(path) ? reply : undefined),
      });
      fill(ledger, 1);
      const seen = observe(feed());
      flush();
      expect(seen.error).toMatchObject({ _tag: tag });
      expect(service.asked).toHaveLength(2);
    });
  });

  it('never carries the payload', () => {
    marbles(({ flush }) => {
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
});

describe('a page that is refused as too large', () => {
  it('is asked for in halves, loses nothing, and the ledger remembers', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({ latencyMs: 5, maxListElements: 30 });
      fill(ledger, ...upTo(100));
      const first = observe(feed().pipe(takeUntil(timer(1_000))));
      flush();
      expect(offsets(first.values)).toEqual(upTo(100));
      const limits = service.asked.filter(({ body }) => 'endInclusive' in body).map(({ query }) => query['limit']);
      expect(limits.slice(0, 4)).toEqual(['200', '100', '50', '25']);
      service.asked.length = 0;
      const second = observe(feed().pipe(takeUntil(timer(1_000))));
      flush();
      expect(offsets(second.values)).toEqual(upTo(100));
      expect(service.asked[1]?.query['limit']).toBe('25');
    });
  });

  it('and one that is too large to be read is asked for in halves, too', () => {
    marbles(({ flush }) => {
      const { ledger, feed, service } = world({
        latencyMs: 5,
        fault: ({ path, query }) =>
          isPage(path) && Number(query['limit']) > 6 ? new AnswerTooLargeError(path, 1_000) : undefined,
      });
      fill(ledger, ...upTo(100));
      const seen = observe(feed().pipe(takeUntil(timer(1_000))));
      flush();
      expect(offsets(seen.values)).toEqual(upTo(100));
      expect(service.asked.slice(1, 7).map(({ query }) => query['limit'])).toEqual([
        '200',
        '100',
        '50',
        '25',
        '12',
        '6',
      ]);
    });
  });

  it('is an error when it has one update', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({ maxListElements: 0 });
      fill(ledger, 1, 2);
      const seen = observe(feed());
      flush();
      expect(seen.error).toMatchObject({ _tag: 'PageLimitError', cursor: 0 });
      expect(service.asked).toHaveLength(9);
    });
  });
});

describe('a path at which updates are not served', () => {
  const disabled = failed(400, canton('DEPRECATED_API_DISABLED', 9));
  const filter = { filtersByParty: { 'alice::1220ab': { cumulative: [] } } };

  it.each([
    ['404', notFound],
    ['405', failed(405, 'Method Not Allowed')],
    ['DEPRECATED_API_DISABLED', disabled],
  ])('is left for /v2/updates for good, in mid-stream, from the same cursor: %s', (_, reply) => {
    marbles(({ flush }) => {
      let gone = false;
      const { ledger, service, feed } = world({
        latencyMs: 5,
        fault: ({ path }) => (gone && path === '/v2/updates/flats' ? reply : undefined),
      });
      fill(ledger, ...upTo(500));
      const seen = observe(feed().pipe(takeUntil(timer(30_000))));
      timer(10_000).subscribe(() => {
        gone = true;
        fill(ledger, 501, 502);
      });
      flush();
      expect(offsets(seen.values)).toEqual(upTo(502));
      const paths = service.asked.filter(({ path }) => isPage(path)).map(({ path }) => path);
      expect(paths.lastIndexOf('/v2/updates/flats')).toBe(paths.indexOf('/v2/updates') - 1);
      service.asked.length = 0;
      observe(feed().pipe(takeUntil(timer(100))));
      flush();
      expect(service.asked.some(({ path }) => path === '/v2/updates/flats')).toBe(false);
    });
  });

  it('turns a legacy filter into the update format that the interface document gives', () => {
    marbles(({ flush }) => {
      const { ledger, service, client } = world({
        fault: ({ path }) => (path === '/v2/updates/flats' ? disabled : undefined),
      });
      fill(ledger, 1);
      observe(client.updates({ beginExclusive: 0, filter, verbose: true }).pipe(takeUntil(timer(10))));
      flush();
      const [, flats, updates] = service.asked;
      expect(flats?.body).toMatchObject({ filter, verbose: true });
      expect(flats?.body).not.toHaveProperty('updateFormat');
      const eventFormat = { ...filter, verbose: true };
      expect(updates?.path).toBe('/v2/updates');
      expect(updates?.body).toEqual({
        beginExclusive: 0,
        endInclusive: 1,
        descendingOrder: false,
        updateFormat: {
          includeTransactions: { eventFormat, transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' },
          includeReassignments: eventFormat,
          includeTopologyEvents: { includeParticipantAuthorizationEvents: { parties: ['alice::1220ab'] } },
        },
      });
    });
  });

  it('is an error where the caller chose it', () => {
    marbles(({ flush }) => {
      const { ledger, client } = world({
        client: { updatesPath: '/v2/updates/flats' },
        fault: ({ path }) => (path === '/v2/updates/flats' ? notFound : undefined),
      });
      fill(ledger, 1);
      const seen = observe(client.updates({ beginExclusive: 0, updateFormat }));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'ApiError', status: 404 });
    });
  });

  it('is an error where neither is there', () => {
    marbles(({ flush }) => {
      const { ledger, feed } = world({ fault: ({ path }) => (isPage(path) ? notFound : undefined) });
      fill(ledger, 1);
      const seen = observe(feed());
      flush();
      expect(seen.error).toMatchObject({ _tag: 'ApiError', status: 404 });
    });
  });
});

describe('a gap', () => {
  const pruned = failed(400, canton('PARTICIPANT_PRUNED_DATA_ACCESSED', 9, { earliest_offset: '25' }));

  it('by pruning ends the feed with the earliest offset, in mid-stream too', () => {
    marbles(({ flush }) => {
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
  });

  it('by a cursor beyond the ledger end is a reset after a grace', () => {
    marbles(({ flush }) => {
      const { ledger, feed, service } = world({ latencyMs: 5 });
      fill(ledger, 10);
      const seen = observe(feed({ beginExclusive: 40 }));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'LedgerResetError', cursor: 40, ledgerEnd: 10 });
      expect(seen.endedAt).toBeGreaterThan(3_000);
      expect(seen.endedAt).toBeLessThanOrEqual(10_100);
      expect(service.asked.length).toBeLessThan(25);
    });
  });

  it('that closes within the grace is none', () => {
    marbles(({ flush }) => {
      const { ledger, feed } = world({ latencyMs: 5 });
      const seen = observe(feed({ beginExclusive: 40 }).pipe(takeUntil(timer(60_000))));
      timer(3_000).subscribe(() => {
        fill(ledger, 40, 41);
      });
      flush();
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.values)).toEqual([41]);
    });
  });

  it('by a participant that was restored while the feed follows is a reset', () => {
    marbles(({ flush }) => {
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
});

describe('a token', () => {
  const isValid = (token: string | undefined): boolean => token === 'fresh' || token === 'newer';
  const unauthorized = failed(401, canton('NA', -1));
  const expired = failed(409, canton('ACCESS_TOKEN_EXPIRED', 2));

  it('is asked for anew for every request', () => {
    marbles(({ flush }) => {
      let n = 0;
      const { ledger, service, feed } = world({ client: { token: () => of(`token-${(n += 1)}`) } });
      const feed$ = feed().pipe(takeUntil(timer(100)));
      expect(n).toBe(0);
      fill(ledger, 1);
      observe(feed$);
      flush();
      expect(service.asked.map(({ token }) => token)).toEqual(['token-1', 'token-2', 'token-3']);
    });
  });

  it.each([
    ['401', unauthorized],
    ['ACCESS_TOKEN_EXPIRED', expired],
  ])('that is refused is asked for once more, and nothing is lost: %s', (_, refusal) => {
    marbles(({ flush }) => {
      const tokens = ['fresh', 'stale', 'newer', 'fresh', 'stale', 'fresh'];
      let n = 0;
      const { ledger, service, feed } = world({
        latencyMs: 5,
        client: { token: () => tokens[n++ % tokens.length] ?? '' },
        fault: ({ token }) => (isValid(token) ? undefined : refusal),
      });
      fill(ledger, ...upTo(1_000));
      const seen = observe(feed().pipe(takeUntil(timer(1_000))));
      flush();
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.values)).toEqual(upTo(1_000));
      expect(service.asked.map(({ token }) => token).slice(0, 4)).toEqual(['fresh', 'stale', 'newer', 'fresh']);
    });
  });

  it.each([
    ['the same again', () => 'stale', 1],
    ['a constant', 'stale', 1],
  ])('that stays refused ends the feed: %s', (_, token, requests) => {
    marbles(({ flush }) => {
      const { service, feed } = world({ client: { token }, fault: () => unauthorized });
      const seen = observe(feed());
      flush();
      expect(seen.error).toMatchObject({ _tag: 'UnauthorizedError' });
      expect(service.asked).toHaveLength(requests);
      expect(JSON.stringify(seen.error)).not.toContain('stale');
    });
  });

  it('that is refused twice, though another, ends the feed', () => {
    marbles(({ flush }) => {
      let n = 0;
      const { service, feed } = world({ client: { token: () => `stale-${(n += 1)}` }, fault: () => unauthorized });
      const seen = observe(feed());
      flush();
      expect(seen.error).toMatchObject({ _tag: 'UnauthorizedError' });
      expect(service.asked).toHaveLength(2);
    });
  });

  it.each([undefined, null, '', 'with a blank', 'a\nb', 42])(
    'that is none is a TokenError, and nothing is sent: %j',
    (given) => {
      marbles(({ flush }) => {
        // @ts-expect-error -- an answer that nobody checked
        const { service, feed } = world({ client: { retry: { giveUpAfterMs: 1 }, token: () => of(given) } });
        const seen = observe(feed());
        flush();
        expect(seen.error).toMatchObject({ _tag: 'TokenError', reason: 'the provider gave no token' });
        expect(service.asked).toEqual([]);
      });
    },
  );

  it('that no provider gives is a transient failure with a name', () => {
    marbles(({ flush }) => {
      const retry = { giveUpAfterMs: 1_000 };
      const broken = world({
        client: {
          retry,
          token: () => {
            throw new Error('the secret is hush');
          },
        },
      });
      const silent = world({ client: { retry, token: () => NEVER } });
      const seen = observe(broken.feed());
      const waited = observe(silent.feed());
      flush();
      expect(seen.error).toMatchObject({ _tag: 'TokenError' });
      expect(String(seen.error)).not.toContain('hush');
      expect(broken.service.asked).toEqual([]);
      expect(waited.error).toMatchObject({ _tag: 'TokenError' });
    });
  });
});

/** The virtual clock. */
const clock = (): number => asyncScheduler.now();

describe('a service that is less patient than the idle timeout', () => {
  it('is asked to wait for a shorter time, and that is no failure', () => {
    marbles(({ flush }) => {
      const timely = 'The server was not able to produce a timely response to your request.';
      const { ledger, service, feed } = world({
        latencyMs: 5,
        fault: ({ query }) =>
          Number(query['stream_idle_timeout_ms'] ?? 0) > 3_000
            ? timer(3_000).pipe(map(() => failed(503, timely)))
            : undefined,
      });
      const seen = observe(
        feed({}, { idleTimeoutMs: 20_000, retry: { giveUpAfterMs: 1 } }).pipe(takeUntil(timer(60_000))),
      );
      timer(30_000).subscribe(() => {
        fill(ledger, 1);
      });
      flush();
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.values)).toEqual([1]);
      const waits = service.asked.flatMap(({ query }) => query['stream_idle_timeout_ms'] ?? []);
      expect(waits.slice(0, 2)).toEqual(['20000', '1500']);
      // grows again little by little, in whole milliseconds
      expect(waits.slice(1).every((wait) => /^\d+$/.test(wait) && Number(wait) <= 3_300)).toBe(true);
    });
  });

  it('is a failure where a shorter time does not help', () => {
    marbles(({ flush }) => {
      const { feed } = world({
        latencyMs: 5,
        fault: ({ path }) => (isPage(path) ? timer(5_000).pipe(map(() => failed(503, 'busy'))) : undefined),
      });
      const seen = observe(feed({}, { retry: { giveUpAfterMs: 60_000 } }));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'ApiError', status: 503 });
    });
  });
});
