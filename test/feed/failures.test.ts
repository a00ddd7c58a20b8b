import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, finalize, NEVER, of, take } from 'rxjs';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import type { LedgerError } from '../../src/errors/LedgerError.js';
import { effort } from '../helpers/effort.js';
import { observe, offsets } from '../helpers/observe.js';
import type { Reply } from '../helpers/scripted.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';
import { errorBody, errorReply, ok, transaction } from '../helpers/wire.js';
import { fill, upTo, world } from '../helpers/world.js';
import { append, isPage, play } from './worlds.js';

const setRandom = (value: number): void => {
  jest.spyOn(Math, 'random').mockReturnValue(value);
};
beforeEach(() => {
  setRandom(0.5);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const down = errorReply(503, 'no');
const notRunning = errorReply(503, errorBody('SERVICE_NOT_RUNNING', 1));

const transient: readonly (readonly [string, Reply])[] = [
  ['a connection that breaks', new Error('socket hang up')],
  ['503 of the ledger', notRunning],
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
  ['400 security alert without details', errorReply(400, errorBody('NA', -1)), 'ApiError'],
  ['404 of an unknown package', errorReply(404, errorBody('PACKAGE_NAMES_NOT_FOUND', 11)), 'ApiError'],
  ['413 of the HTTP layer', errorReply(413, 'exceeded size limit (8388608 bytes)!'), 'ApiError'],
  ['a valid page with another status', errorReply(302, [transaction(1)]), 'ApiError'],
  ['an error body as an element', ok([errorBody('INVALID_ARGUMENT', 8)]), 'DecodeError'],
];

describe('a transient failure', () => {
  it.each(transient)('is retried from the cursor: %s (G3)', (_, reply) => {
    // every second page or poll fails
    const fault = (request: Parameters<typeof isPage>[0], n: number) =>
      isPage(request) && n % 2 === 0 ? reply : undefined;
    const { seen } = play({ fault }, { updates: upTo(1_000), forMs: 60_000, at: { 30_000: append(1_001) } });
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual(upTo(1_001));
  });

  it('may be a page that is cut at any byte, which loses and repeats nothing (G1)', () => {
    const whole = ok(upTo(20).map((offset) => transaction(offset)));
    const cuts = effort(300, whole.text.length);
    for (let cut = 0; cut < cuts; cut += 1) {
      const bytes = Math.floor((cut * whole.text.length) / cuts);
      marbles(({ flush }) => {
        const { ledger, feed, service } = world({
          fault: (request, n) =>
            isPage(request) && n === 2 ? { ...whole, text: whole.text.slice(0, bytes) } : undefined,
        });
        fill(ledger, ...upTo(20));
        const seen = observe(feed().pipe(take(20)));
        flush();
        if (!seen.completed) throw new Error(`cut at byte ${bytes}: ${String(seen.error)}`);
        expect(offsets(seen.values)).toEqual(upTo(20));
        expect(service.requests).toHaveLength(3);
      });
    }
  });

  it('is retried with exponential back-off and full jitter, up to the longest delay', () => {
    const at: number[] = [];
    const fault = () => {
      at.push(asyncScheduler.now());
      return notRunning;
    };
    play({ fault }, { options: { retry: { baseDelayMs: 100, maxDelayMs: 1_000, giveUpAfterMs: 3_000 } } });
    // half of 100, 200, 400, 800, and of 1 000 from then on; one last retry when the budget is used up
    expect(at).toEqual([0, 50, 150, 350, 750, 1_250, 1_750, 2_250, 2_750, 3_000]);
  });

  it('is delivered at once without a retry budget', () => {
    const { seen, service } = play({ fault: () => down }, { options: { retry: { giveUpAfterMs: 0 } } });
    expect(seen.error).toMatchObject({ _tag: 'ApiError', status: 503 });
    expect(seen.error).not.toHaveProperty('retried');
    expect(service.requests).toHaveLength(1);
  });

  it('is delivered when the retry budget is used up without a healthy answer (G3)', () => {
    const { seen, service } = play({ fault: () => down });
    expect(seen.error).toMatchObject({ _tag: 'ApiError', status: 503 });
    expect(seen.endedAt).toBeGreaterThan(250_000);
    expect(seen.endedAt).toBeLessThanOrEqual(300_000);
    expect(service.open).toBe(0);
    // with the number and the time of the retries
    const times = service.requests.length - 1;
    expect(seen.error).toMatchObject({ retried: { times, forMs: 300_000 } });
    expect(String(seen.error)).toContain(`Retried: ${times} times in 300000 ms`);
  });

  it('has its retry budget renewed only by a healthy answer', () => {
    const client = { retry: { giveUpAfterMs: 10_000, maxDelayMs: 500 } };
    // down for nine seconds in every ten
    const isDown = () => asyncScheduler.now() % 10_000 < 9_000;
    const healthy = play({ client, fault: () => (isDown() ? down : undefined) }, { forMs: 600_000 }).seen;
    expect(healthy.error).toBeUndefined();
    // a page that breaks off is not healthy, though the ledger end is
    const broken = { status: 200, headers: {}, text: '[{' };
    const fault = (request: Parameters<typeof isPage>[0]) => (isPage(request) ? broken : undefined);
    const flapping = play({ latencyMs: 0, client, fault }, { updates: [10] }).seen;
    expect(flapping.error).toMatchObject({ _tag: 'ConnectionError' });
    expect(flapping.endedAt).toBeLessThanOrEqual(10_000);
  });

  it('is retried after the delay that the service asks for', () => {
    const fault = (_: unknown, n: number) => (n === 1 ? errorReply(429, '', { 'retry-after': '7' }) : undefined);
    expect(play({ fault }, { forMs: 6_999 }).service.requests).toHaveLength(1);
  });

  itInVirtualTime('leaves no timer when the feed is unsubscribed from before the retry', ({ flush }) => {
    const { feed, service } = world({ fault: () => down });
    const { subscription } = observe(feed());
    asyncScheduler.schedule(() => {
      subscription.unsubscribe();
    }, 1_000);
    flush();
    const sent = service.requests.length;
    asyncScheduler.schedule(() => undefined, 100_000);
    flush();
    expect(service.requests).toHaveLength(sent);
  });

  it('may be a missing answer: the request is aborted and sent again (G2)', () => {
    const { seen, service } = play({ fault: (_, n) => (n === 2 ? NEVER : undefined) }, { updates: [1], forMs: 60_000 });
    expect(offsets(seen.values)).toEqual([1]);
    expect(seen.times[0]).toBeGreaterThan(30_000);
    expect(seen.times[0]).toBeLessThan(31_000);
    expect(service.aborted.length).toBeGreaterThanOrEqual(1);
  });

  it('may be a missing answer to a poll: it is aborted after its idle timeout and the time of a request (G2)', () => {
    let sentAt: number | undefined;
    const aborted: number[] = [];
    const { service } = play(
      {
        fault: ({ query }) => {
          if (query['stream_idle_timeout_ms'] !== '10000' || sentAt !== undefined) return undefined;
          sentAt = asyncScheduler.now();
          return NEVER.pipe(finalize(() => aborted.push(asyncScheduler.now())));
        },
      },
      { updates: [1], options: { idleTimeoutMs: 10_000 }, forMs: 90_000 },
    );
    expect(aborted).toEqual([(sentAt ?? 0) + 40_000]);
    expect(service.requests.length).toBeGreaterThan(3);
  });
});

describe('a permanent failure', () => {
  it.each(permanent)('ends the feed at once, after one request: %s (G5)', (_, reply, tag) => {
    const { seen, service } = play({ fault: (request) => (isPage(request) ? reply : undefined) }, { updates: [1] });
    expect(seen.error).toMatchObject({ _tag: tag });
    expect(service.requests).toHaveLength(2);
  });

  it('never carries the payload', () => {
    const page = ok([{ update: { Transaction: { value: { secret: 'hush' } } } }]);
    const { seen } = play({ fault: (request) => (isPage(request) ? page : undefined) }, { updates: [1] });
    expect(seen.error).toMatchObject({ _tag: 'DecodeError' });
    expect(JSON.stringify(seen.error) + String(seen.error)).not.toContain('hush');
  });
});

describe('a gap', () => {
  it('by pruning ends the feed with the earliest offset, also in mid-stream (G17)', () => {
    const pruned = errorReply(400, errorBody('PARTICIPANT_PRUNED_DATA_ACCESSED', 9, { earliest_offset: '25' }));
    const { seen } = play(
      { fault: (request) => (isPage(request) && Number(request.body['beginExclusive']) >= 199 ? pruned : undefined) },
      { updates: upTo(500) },
    );
    expect(offsets(seen.values)).toEqual(upTo(200));
    expect(seen.error).toMatchObject({ _tag: 'PrunedError', earliestOffset: 25 });
  });

  it('by a cursor after the ledger end is a reset when the retry budget is used up (G18)', () => {
    const { seen, service } = play({}, { updates: [10], request: { beginExclusive: 40 } });
    expect(seen.error).toMatchObject({ _tag: 'LedgerResetError', cursor: 40, ledgerEnd: 10 });
    expect(seen.endedAt).toBeGreaterThan(250_000);
    expect(seen.endedAt).toBeLessThanOrEqual(301_000);
    expect(service.requests.length).toBeLessThan(120);
  });

  it('that closes within minutes is ignored: the participant reads again what it had', () => {
    const { seen } = play({}, { request: { beginExclusive: 40 }, forMs: 400_000, at: { 200_000: append(40, 41) } });
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual([41]);
  });

  it('by a participant that was restored while the feed follows is a reset', () => {
    const { seen } = play({}, { updates: [1, 2, 3], at: { 2_000: ({ ledger }) => (ledger.end = 2) } });
    expect(offsets(seen.values)).toEqual([1, 2, 3]);
    expect(seen.error).toMatchObject({ _tag: 'LedgerResetError', cursor: 3 });
  });
});

describe('after an outage', () => {
  /** How long after an outage of 40 seconds two feeds of one ledger receive an update, in milliseconds. */
  function delaysAfterOutage(failure: Reply): readonly (number | undefined)[] {
    // the longest delays
    setRandom(0.999);
    const isDown = (): boolean => asyncScheduler.now() >= 1_000 && asyncScheduler.now() < 41_000;
    const eager: { seen?: ReturnType<typeof observe<{ offset: number }>> } = {};
    const { seen } = play(
      { fault: () => (isDown() ? failure : undefined) },
      {
        updates: [1],
        options: { retry: { maxDelayMs: 30_000 } },
        forMs: 90_000,
        at: {
          0: ({ feed }) => (eager.seen = observe(feed({}, { retry: { maxDelayMs: 500 } }).pipe(take(2)))),
          40_000: append(2),
        },
      },
    );
    const both = [seen, eager.seen];
    expect(both.map((each) => offsets(each?.values ?? []))).toEqual([upTo(2), upTo(2)]);
    return both.map((each) => (each?.times[1] ?? Infinity) - 41_000);
  }

  it('all feeds of a ledger resume within seconds of the first success (G4)', () => {
    const [patient, eager] = delaysAfterOutage(new Error('the connection failed'));
    expect(eager).toBeLessThan(600);
    expect(patient).toBeLessThan(2_000);
  });

  it('a feed that the participant itself has refused waits for its whole delay', () => {
    const [patient, eager] = delaysAfterOutage(notRunning);
    expect(eager).toBeLessThan(600);
    expect(patient).toBeGreaterThan(5_000);
  });

  it('a feed alone notices within 5 seconds that a participant which refused connections is back (G4)', () => {
    setRandom(0.999);
    const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    const diagnostics: Diagnostic[] = [];
    play({ fault: () => refused }, { forMs: 120_000, diagnostics });
    const delays = diagnostics.flatMap((each) => (each._tag === 'RetryScheduled' ? [each.delayMs] : []));
    expect(Math.max(...delays)).toBeLessThan(5_000);
    expect(delays.length).toBeGreaterThan(20);
  });
});

describe('a token', () => {
  const unauthorized = errorReply(401, errorBody('NA', -1));

  it('is requested for every request', () => {
    let n = 0;
    const { service } = play({ client: { token: () => of(`token-${(n += 1)}`) } }, { updates: [1], forMs: 100 });
    expect(service.requests.map(({ token }) => token)).toEqual(['token-1', 'token-2', 'token-3', 'token-4']);
  });

  it.each([
    ['401', unauthorized],
    ['ACCESS_TOKEN_EXPIRED', errorReply(409, errorBody('ACCESS_TOKEN_EXPIRED', 2))],
  ])('that is refused is replaced by another one, and nothing is lost: %s (G15)', (_, refusal) => {
    const tokens = ['fresh', 'stale', 'newer', 'fresh', 'stale', 'fresh'];
    let n = 0;
    const { seen, service } = play(
      {
        client: { token: () => tokens[n++ % tokens.length] ?? '' },
        fault: ({ token }) => (token === 'stale' ? refusal : undefined),
      },
      { updates: upTo(1_000), forMs: 1_000 },
    );
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual(upTo(1_000));
    expect(service.requests.map(({ token }) => token).slice(0, 4)).toEqual(['fresh', 'stale', 'newer', 'fresh']);
  });

  it.each([
    ['the same again', () => 'stale'],
    ['a constant', 'stale'],
  ])('that stays refused ends the feed: %s (G15)', (_, token) => {
    const { seen, service } = play({ client: { token }, fault: () => unauthorized });
    expect(seen.error).toMatchObject({ _tag: 'UnauthorizedError' });
    expect(service.requests).toHaveLength(1);
    expect(JSON.stringify(seen.error)).not.toContain('stale');
  });

  it.each([undefined, null, '', 'with a blank', 'a\nb', 42])(
    'that is invalid is a TokenError, and nothing is sent: %j',
    (given) => {
      // @ts-expect-error -- an answer without a check
      const { seen, service } = play({ client: { retry: { giveUpAfterMs: 1 }, token: () => of(given) } });
      const reason = expect.stringMatching(/^the provider did not return a token/);
      expect(seen.error).toMatchObject({ _tag: 'TokenError', reason });
      expect(service.requests).toEqual([]);
    },
  );

  it.each([
    [
      'throws',
      () => {
        throw new Error('the secret is hush');
      },
    ],
    ['never answers', () => NEVER],
  ])('of a provider that %s is a transient failure', (_, token) => {
    const { seen, service } = play({ client: { retry: { giveUpAfterMs: 1_000 }, token } });
    expect(seen.error).toMatchObject({ _tag: 'TokenError' });
    expect(String(seen.error)).not.toContain('hush');
    expect(service.requests).toEqual([]);
  });
});
