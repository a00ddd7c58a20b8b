import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, map, tap, takeUntil, timer } from 'rxjs';
import type { UpdatesOptions } from '../../src/feed/UpdatesOptions.js';
import { observe, offsets } from '../helpers/observe.js';
import { marbles } from '../helpers/time.js';
import { errorBody, errorReply, notFound, ok } from '../helpers/wire.js';
import { fill, upTo, world } from '../helpers/world.js';
import { append, isEnd, isPage, play, waitsOf } from './worlds.js';

afterEach(() => {
  jest.restoreAllMocks();
});

const untimely = errorReply(503, 'The server was not able to produce a timely response to your request.');
const after = <A>(ms: number, reply: A) => timer(ms).pipe(map(() => reply));

/** Moves the clock by so many milliseconds, from the given virtual time on. */
const setClock = (from: number, by: number): void => {
  const real = asyncScheduler.now.bind(asyncScheduler);
  jest.spyOn(asyncScheduler, 'now').mockImplementation(() => real() + (real() >= from ? by : 0));
};

describe('a feed continues', () => {
  it('if one page is more than the service can search in time', () => {
    // one update in a million offsets, and twenty seconds are not enough for more than ten thousand
    const { seen, service } = play(
      {
        latencyMs: 0,
        fault: (request) =>
          isPage(request) && Number(request.body['endInclusive']) - Number(request.body['beginExclusive']) > 10_000
            ? after(20_000, untimely)
            : undefined,
      },
      { updates: [900_000], forMs: 3_600_000, at: { 0: ({ ledger }) => (ledger.end = 1_000_000) } },
    );
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual([900_000]);
    expect(service.requests.length).toBeLessThan(2_000);
  });

  it.each([
    ['back', -3_600_000],
    ['forward', 3_600_000],
  ])('if the clock is set %s while it waits (G20)', (_, by) => {
    marbles(({ flush }) => {
      const { ledger, feed } = world({ latencyMs: 5 });
      const log: string[] = [];
      const seen = observe(
        feed().pipe(
          tap(({ offset }) => log.push(`seen ${offset}`)),
          takeUntil(timer(60_000)),
        ),
      );
      setClock(13_000, by);
      for (const [i, at] of [20_000, 30_000, 40_000].entries()) {
        timer(at).subscribe(() => {
          fill(ledger, i + 1);
        });
        timer(at + 100).subscribe(() => log.push('a while later'));
      }
      flush();
      expect(seen.error).toBeUndefined();
      expect(log).toEqual(['seen 1', 'a while later', 'seen 2', 'a while later', 'seen 3', 'a while later']);
    });
  });

  it.each([-3_600_000, 3_600_000])('by a WebSocket, with true durations, if the clock is set by %d ms (G20)', (by) => {
    marbles(({ flush }) => {
      const { ledger, feed, client, websocket } = world({ latencyMs: 5 });
      const diagnostics = observe(client.diagnostics$);
      const seen = observe(feed({}, websocket).pipe(takeUntil(timer(30_000))));
      setClock(13_000, by);
      for (const [i, at] of [10_000, 20_000, 25_000].entries())
        timer(at).subscribe(() => {
          fill(ledger, i + 1);
        });
      flush();
      expect(offsets(seen.values)).toEqual([1, 2, 3]);
      const durations = diagnostics.values.flatMap((it) => (it._tag === 'PageReceived' ? [it.durationMs] : []));
      expect(Math.min(...durations)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...durations)).toBeLessThanOrEqual(30_000);
      // not of a poll
      expect(diagnostics.values.filter(({ _tag }) => _tag === 'SocketOpened')).toHaveLength(1);
    });
  });

  it('if the machine sleeps during an outage (G20)', () => {
    let down = true;
    const { seen } = play(
      { fault: () => (down ? errorReply(503, 'down') : undefined) },
      {
        updates: [1],
        forMs: 200_000,
        at: {
          0: () => {
            setClock(1_000, 3_600_000);
          },
          100_000: () => (down = false),
        },
      },
    );
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual([1]);
  });

  it.each([
    ['404', notFound, 0],
    ['403 of a gateway', errorReply(403, 'forbidden'), 0],
    ['404, and the clock is set back', notFound, -3_600_000],
  ])('if the ledger end is unavailable for a moment, and requests it again: %s', (_, reply, by) => {
    const { seen, service } = play(
      { latencyMs: 120, fault: (request, n) => (isEnd(request) && n === 1 ? reply : undefined) },
      {
        updates: upTo(300),
        forMs: 120_000,
        at: {
          0: () => {
            setClock(10_000, by);
          },
        },
      },
    );
    expect(offsets(seen.values)).toEqual(upTo(300));
    // 1, 4, 16, 64, 200 and a few: not one request for each update
    expect(seen.times.at(-1)).toBeLessThan(2_000);
    const requests = service.requests.filter(isEnd);
    expect(requests.length).toBeGreaterThan(1);
    expect(requests.length).toBeLessThan(12);
  });

  it.each([
    ['504', errorReply(504, '<html>Gateway Time-out</html>')],
    ['408', errorReply(408, '')],
    ...[520, 522, 524, 598].map((status) => [`${status}`, errorReply(status, '')] as const),
    ['a reset', new Error('socket hang up')],
  ])('if a proxy cuts polls before they are answered: %s', (_, reply) => {
    const { seen } = play(
      {
        fault: ({ query }) => (Number(query['stream_idle_timeout_ms'] ?? 0) > 2_000 ? after(2_000, reply) : undefined),
      },
      { options: { retry: { giveUpAfterMs: 5_000 } }, forMs: 120_000, at: { 100_000: append(1) } },
    );
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual([1]);
  });

  it('with a grace period for a lagging ledger end, also after a longer outage', () => {
    const now = () => asyncScheduler.now();
    const { seen } = play(
      {
        fault: (request) => {
          if (now() < 30_000) return errorReply(503, 'down');
          // a replica that lags
          return isEnd(request) && now() < 33_000 ? ok({ offset: 3 }) : undefined;
        },
      },
      { updates: [5, 6], request: { beginExclusive: 5 }, options: { retry: { maxDelayMs: 1_000 } }, forMs: 90_000 },
    );
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual([6]);
  });

  it('with the whole grace period, however long the last delay of an outage was', () => {
    jest.spyOn(Math, 'random').mockReturnValue(1);
    const replies = [...upTo(7).map(() => errorReply(503, 'down')), ok({ offset: 3 })];
    // delays double up to 16 seconds, then one answer lags
    const retry = { baseDelayMs: 250, maxDelayMs: 16_000 };
    const { seen } = play(
      { fault: (request, n) => (isEnd(request) ? replies[n - 1] : undefined) },
      { updates: [5, 6], request: { beginExclusive: 5 }, options: { retry }, forMs: 120_000 },
    );
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual([6]);
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])('to a far end on a service without a ledger end: %i', (i) => {
    // so slow that the ledger end is requested during a page, for one of these
    const { seen } = play(
      { hasLedgerEnd: false, latencyMs: 500 + 97 * i },
      {
        request: { endInclusive: 10 },
        options: { retry: { giveUpAfterMs: 60_000 } },
        at: { 600_000: append(9, 12) },
      },
    );
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual([9]);
    expect(seen.completed).toBe(true);
  });

  it('if a replica answers with an end that another has not reached', () => {
    const { seen } = play(
      { fault: (request, n) => (isEnd(request) && n === 1 ? ok({ offset: 100 }) : undefined) },
      { updates: [60, 80], request: { beginExclusive: 50 }, forMs: 30_000 },
    );
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual([60, 80]);
    expect(seen.times.at(-1)).toBeLessThan(100);
  });
});

describe('a feed does not loop', () => {
  it('if a service answers with an end and refuses ranges up to it', () => {
    const refusal = errorReply(400, errorBody('OFFSET_AFTER_LEDGER_END', 12));
    const { seen, service } = play(
      { fault: (request) => (isPage(request) ? refusal : undefined) },
      { updates: [100], request: { beginExclusive: 50 } },
    );
    expect(seen.error).toMatchObject({ _tag: 'ApiError', code: 'OFFSET_AFTER_LEDGER_END' });
    expect(service.requests.length).toBeLessThan(100);
  });

  it('if the service asks for a delay that no timer supports', () => {
    // what a timer can count to is not quite 25 days
    const { seen, service } = play(
      { fault: () => errorReply(429, '', { 'retry-after': '1000000000' }) },
      { options: { retry: { giveUpAfterMs: Infinity } }, forMs: 30 * 24 * 3_600_000 },
    );
    expect(seen.error).toBeUndefined();
    expect(service.requests).toHaveLength(2);
  });

  it('and retries once when its budget is used up, however long a delay the service asks for', () => {
    const { seen, service } = play({ latencyMs: 0, fault: () => errorReply(429, '', { 'retry-after': '600' }) });
    expect(seen.error).toMatchObject({ _tag: 'ApiError', status: 429 });
    expect(seen.endedAt).toBe(300_000);
    expect(service.requests).toHaveLength(2);
  });

  it('in descending order with pages of one element, which would hide a wrong order', () => {
    const request = { endInclusive: 9, descendingOrder: true };
    const { seen } = play({ maxListElements: 1 }, { updates: [3, 7, 9], request });
    expect(seen.values).toEqual([]);
    expect(seen.error).toMatchObject({ _tag: 'PageLimitError' });
  });
});

describe('the idle timeout of polls', () => {
  it('grows after a poll that was cut once, until it is as long as before', () => {
    let cut = false;
    const its = play(
      {
        latencyMs: 0,
        fault: ({ query }) => {
          if (cut || !('stream_idle_timeout_ms' in query)) return undefined;
          cut = true;
          return after(2_000, untimely);
        },
      },
      { forMs: 200_000 },
    );
    const waits = waitsOf(its);
    expect(waits.slice(0, 3)).toEqual([5_000, 1_000, 1_100]);
    expect(waits.at(-1)).toBe(12_000);
  });

  it.each<[string, Pick<UpdatesOptions, 'idleTimeoutMs'>, number[]]>([
    ['is longer after two polls without an update', {}, [5_000, 5_000, 12_000, 12_000, 12_000, 12_000, 12_000]],
    ['is that of the caller', { idleTimeoutMs: 9_000 }, Array.from({ length: 7 }, () => 9_000)],
  ])('%s', (_, options, waits) => {
    expect(waitsOf(play({ latencyMs: 0 }, { options, forMs: 60_000 }))).toEqual(waits);
  });

  it('is shorter for a service that answers before it with an error, without a failure', () => {
    const its = play(
      {
        fault: ({ query }) =>
          Number(query['stream_idle_timeout_ms'] ?? 0) > 3_000 ? after(3_000, untimely) : undefined,
      },
      { options: { idleTimeoutMs: 20_000, retry: { giveUpAfterMs: 1 } }, forMs: 60_000, at: { 30_000: append(1) } },
    );
    expect(its.seen.error).toBeUndefined();
    expect(offsets(its.seen.values)).toEqual([1]);
    const waits = waitsOf(its);
    expect(waits.slice(0, 2)).toEqual([20_000, 1_500]);
    // grows again gradually, in whole milliseconds
    expect(waits.slice(1).every((wait) => Number.isInteger(wait) && wait <= 3_300)).toBe(true);
  });

  it('does not hide a failure that a shorter one does not help', () => {
    const { seen } = play(
      { fault: (request) => (isPage(request) ? after(5_000, errorReply(503, 'busy')) : undefined) },
      { options: { retry: { giveUpAfterMs: 60_000 } } },
    );
    expect(seen.error).toMatchObject({ _tag: 'ApiError', status: 503 });
  });
});
