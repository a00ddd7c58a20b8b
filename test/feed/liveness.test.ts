import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, map, takeUntil, tap, timer } from 'rxjs';
import type { UpdatesOptions } from '../../src/feed/UpdatesOptions.js';
import { observe, offsets } from '../helpers/observe.js';
import { fill, updateFormat, upTo, world } from '../helpers/world.js';
import { transaction, errorBody, errorReply, notFound } from '../helpers/wire.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';

afterEach(() => {
  jest.restoreAllMocks();
});

const isPage = (path: string): boolean => path.startsWith('/v2/updates');
const untimely = errorReply(503, 'The server was not able to produce a timely response to your request.');

/** Moves the clock by so many milliseconds, from the given virtual time on. */
const setClock = (from: number, by: number): void => {
  const real = asyncScheduler.now.bind(asyncScheduler);
  const start = real();
  jest.spyOn(asyncScheduler, 'now').mockImplementation(() => real() + (real() - start >= from ? by : 0));
};

describe('a feed continues', () => {
  itInVirtualTime('if one page is more than the service can search in time', ({ flush }) => {
    // one update in a million offsets, and twenty seconds are not enough for more than ten thousand
    const { ledger, service, feed } = world({
      fault: ({ path, body }) =>
        isPage(path) && Number(body['endInclusive']) - Number(body['beginExclusive']) > 10_000
          ? timer(20_000).pipe(map(() => untimely))
          : undefined,
    });
    ledger.append(900_000, transaction(900_000));
    ledger.end = 1_000_000;
    const seen = observe(feed().pipe(takeUntil(timer(3_600_000))));
    flush();
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

  itInVirtualTime('if the machine sleeps during an outage (G20)', ({ flush }) => {
    let down = true;
    const { ledger, feed } = world({ latencyMs: 5, fault: () => (down ? errorReply(503, 'down') : undefined) });
    fill(ledger, 1);
    const seen = observe(feed().pipe(takeUntil(timer(200_000))));
    setClock(1_000, 3_600_000);
    timer(100_000).subscribe(() => {
      down = false;
    });
    flush();
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual([1]);
  });

  itInVirtualTime('if the clock is set back after the ledger end was unavailable', ({ flush }) => {
    const { ledger, service, feed } = world({
      latencyMs: 5,
      fault: ({ path }, n) => (path.endsWith('ledger-end') && n === 1 ? notFound : undefined),
    });
    fill(ledger, 1);
    setClock(10_000, -3_600_000);
    observe(feed().pipe(takeUntil(timer(120_000))));
    flush();
    const requests = service.requests.filter(({ path }) => path.endsWith('ledger-end'));
    expect(requests.length).toBeGreaterThan(1);
    expect(requests.length).toBeLessThan(12);
  });

  it.each([
    ['404', notFound],
    ['403 of a gateway', errorReply(403, 'forbidden')],
  ])('if the ledger end is unavailable for a moment, and requests it again: %s', (_, reply) => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({
        latencyMs: 120,
        fault: ({ path }, n) => (path.endsWith('ledger-end') && n === 1 ? reply : undefined),
      });
      fill(ledger, ...upTo(300));
      const seen = observe(feed().pipe(takeUntil(timer(120_000))));
      flush();
      expect(offsets(seen.values)).toEqual(upTo(300));
      // 1, 4, 16, 64, 200 and a few: not one request for each update
      expect(seen.times.at(-1)).toBeLessThan(2_000);
      const requests = service.requests.filter(({ path }) => path.endsWith('ledger-end'));
      expect(requests.length).toBeGreaterThan(1);
      expect(requests.length).toBeLessThan(12);
    });
  });

  it.each([
    ['504', errorReply(504, '<html>Gateway Time-out</html>')],
    ['408', errorReply(408, '')],
    ['a reset', new Error('socket hang up')],
  ])('if a proxy cuts polls before they are answered: %s', (_, reply) => {
    marbles(({ flush }) => {
      const { ledger, feed } = world({
        fault: ({ query }) =>
          Number(query['stream_idle_timeout_ms'] ?? 0) > 2_000 ? timer(2_000).pipe(map(() => reply)) : undefined,
      });
      const seen = observe(feed({}, { retry: { giveUpAfterMs: 5_000 } }).pipe(takeUntil(timer(120_000))));
      timer(100_000).subscribe(() => {
        fill(ledger, 1);
      });
      flush();
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.values)).toEqual([1]);
    });
  });

  itInVirtualTime('with a grace period for a lagging ledger end, also after a longer outage', ({ flush }) => {
    const start = asyncScheduler.now();
    const age = (): number => asyncScheduler.now() - start;
    const { ledger, feed } = world({
      latencyMs: 5,
      fault: ({ path }) => {
        if (age() < 30_000) return errorReply(503, 'down');
        // a replica that lags
        return path.endsWith('ledger-end') && age() < 33_000
          ? { status: 200, headers: {}, text: '{"offset":3}' }
          : undefined;
      },
    });
    fill(ledger, 5, 6);
    const seen = observe(feed({ beginExclusive: 5 }, { retry: { maxDelayMs: 1_000 } }).pipe(takeUntil(timer(90_000))));
    flush();
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual([6]);
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])('to a far end on a service without a ledger end: %i', (i) => {
    marbles(({ flush }) => {
      // so slow that the ledger end is requested during a page, for one of these
      const { ledger, feed } = world({ hasLedgerEnd: false, latencyMs: 500 + 97 * i });
      const seen = observe(feed({ endInclusive: 10 }, { retry: { giveUpAfterMs: 60_000 } }));
      timer(600_000).subscribe(() => {
        fill(ledger, 9, 12);
      });
      flush();
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.values)).toEqual([9]);
      expect(seen.completed).toBe(true);
    });
  });

  itInVirtualTime('with the whole grace period, however long the last delay of an outage was', ({ flush }) => {
    jest.spyOn(Math, 'random').mockReturnValue(1);
    const replies = [...upTo(7).map(() => errorReply(503, 'down')), { status: 200, headers: {}, text: '{"offset":3}' }];
    const { ledger, feed } = world({
      latencyMs: 5,
      fault: ({ path }, n) => (path.endsWith('ledger-end') ? replies[n - 1] : undefined),
    });
    fill(ledger, 5, 6);
    // delays double up to 16 seconds, then one answer lags
    const retry = { baseDelayMs: 250, maxDelayMs: 16_000 };
    const seen = observe(feed({ beginExclusive: 5 }, { retry }).pipe(takeUntil(timer(120_000))));
    flush();
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual([6]);
  });

  itInVirtualTime('if a replica answers with an end that another has not reached', ({ flush }) => {
    const { ledger, feed } = world({
      latencyMs: 5,
      fault: ({ path }, n) =>
        path.endsWith('ledger-end') && n === 1 ? { status: 200, headers: {}, text: '{"offset":100}' } : undefined,
    });
    fill(ledger, 60, 80);
    const seen = observe(feed({ beginExclusive: 50 }).pipe(takeUntil(timer(30_000))));
    flush();
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual([60, 80]);
    expect(seen.times.at(-1)).toBeLessThan(100);
  });
});

describe('a feed does not loop', () => {
  itInVirtualTime('if a service answers with an end and refuses ranges up to it', ({ flush }) => {
    const { ledger, service, feed } = world({
      latencyMs: 5,
      fault: ({ path }) => (isPage(path) ? errorReply(400, errorBody('OFFSET_AFTER_LEDGER_END', 12)) : undefined),
    });
    fill(ledger, 100);
    const seen = observe(feed({ beginExclusive: 50 }));
    flush();
    expect(seen.error).toMatchObject({ _tag: 'ApiError', code: 'OFFSET_AFTER_LEDGER_END' });
    expect(service.requests.length).toBeLessThan(100);
  });

  itInVirtualTime('if the service asks for a delay that no timer supports', ({ flush }) => {
    const { service, feed } = world({ fault: () => errorReply(429, '', { 'retry-after': '1000000000' }) });
    // what a timer can count to is not quite 25 days
    const days = 24 * 3_600_000;
    const seen = observe(feed({}, { retry: { giveUpAfterMs: Infinity } }).pipe(takeUntil(timer(30 * days))));
    flush();
    expect(seen.error).toBeUndefined();
    expect(service.requests).toHaveLength(2);
  });

  itInVirtualTime(
    'and retries once when its budget is used up, however long a delay the service asks for',
    ({ flush }) => {
      const { service, feed } = world({ fault: () => errorReply(429, '', { 'retry-after': '600' }) });
      const seen = observe(feed());
      flush();
      expect(seen.error).toMatchObject({ _tag: 'ApiError', status: 429 });
      expect(seen.endedAt).toBe(300_000);
      expect(service.requests).toHaveLength(2);
    },
  );
});

describe('a feed whose poll was cut once', () => {
  itInVirtualTime('polls for longer each time, until it polls for as long as before', ({ flush }) => {
    let cut = false;
    const { service, feed } = world({
      fault: ({ query }) => {
        if (cut || !('stream_idle_timeout_ms' in query)) return undefined;
        cut = true;
        return timer(2_000).pipe(map(() => untimely));
      },
    });
    observe(feed().pipe(takeUntil(timer(200_000))));
    flush();
    const waits = service.requests.flatMap(({ query }) => query['stream_idle_timeout_ms'] ?? []).map(Number);
    expect(waits.slice(0, 3)).toEqual([5_000, 1_000, 1_100]);
    expect(waits.at(-1)).toBe(12_000);
  });
});

describe('a feed of a quiet ledger', () => {
  const waitsOf = (options: Pick<UpdatesOptions, 'idleTimeoutMs'>): readonly number[] => {
    const waits: number[] = [];
    marbles(({ flush }) => {
      const { service, feed } = world();
      observe(feed({}, options).pipe(takeUntil(timer(60_000))));
      flush();
      waits.push(...service.requests.flatMap(({ query }) => query['stream_idle_timeout_ms'] ?? []).map(Number));
    });
    return waits;
  };

  it('polls longer after two polls without an update', () => {
    expect(waitsOf({})).toEqual([5_000, 5_000, 12_000, 12_000, 12_000, 12_000, 12_000]);
  });

  it('polls with the idle timeout of the caller', () => {
    expect(waitsOf({ idleTimeoutMs: 9_000 })).toEqual(Array.from({ length: 7 }, () => 9_000));
  });
});

describe('a descending feed', () => {
  itInVirtualTime('does not continue with pages of one element, which would hide a wrong order', ({ flush }) => {
    const { ledger, client } = world({ maxListElements: 1 });
    fill(ledger, 3, 7, 9);
    const seen = observe(client.updates({ beginExclusive: 0, endInclusive: 9, descendingOrder: true, updateFormat }));
    flush();
    expect(seen.values).toEqual([]);
    expect(seen.error).toMatchObject({ _tag: 'PageLimitError' });
  });
});
