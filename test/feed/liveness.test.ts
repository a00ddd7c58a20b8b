import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, map, takeUntil, tap, timer } from 'rxjs';
import type { UpdatesOptions } from '../../src/feed/UpdatesOptions.js';
import { marbles } from '../helpers/marbles.js';
import { observe, offsets } from '../helpers/observe.js';
import { canton, failed, notFound } from '../helpers/scripted.js';
import { fill, updateFormat, upTo, world } from '../helpers/world.js';
import { transaction } from '../helpers/wire.js';

afterEach(() => {
  jest.restoreAllMocks();
});

const isPage = (path: string): boolean => path.startsWith('/v2/updates');
const untimely = failed(503, 'The server was not able to produce a timely response to your request.');

/** Sets the clock, from the given virtual time on, by so many milliseconds. */
const setClock = (from: number, by: number): void => {
  const real = asyncScheduler.now.bind(asyncScheduler);
  const start = real();
  jest.spyOn(asyncScheduler, 'now').mockImplementation(() => real() + (real() - start >= from ? by : 0));
};

describe('a feed goes on', () => {
  it('where one page is more than the service can search in time', () => {
    marbles(({ flush }) => {
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
      expect(service.asked.length).toBeLessThan(2_000);
    });
  });

  it.each([
    ['back', -3_600_000],
    ['forward', 3_600_000],
  ])('when the clock is set %s while it waits', (_, by) => {
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

  it('after a machine has slept in the middle of an outage', () => {
    marbles(({ flush }) => {
      let down = true;
      const { ledger, feed } = world({ latencyMs: 5, fault: () => (down ? failed(503, 'down') : undefined) });
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
  });

  it('where the clock is set back after the ledger end was not told for a moment', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({
        latencyMs: 5,
        fault: ({ path }, n) => (path.endsWith('ledger-end') && n === 1 ? notFound : undefined),
      });
      fill(ledger, 1);
      setClock(10_000, -3_600_000);
      observe(feed().pipe(takeUntil(timer(120_000))));
      flush();
      const asked = service.asked.filter(({ path }) => path.endsWith('ledger-end'));
      expect(asked.length).toBeGreaterThan(1);
      expect(asked.length).toBeLessThan(12);
    });
  });

  it.each([
    ['404', notFound],
    ['403 of a gateway', failed(403, 'forbidden')],
  ])('where the ledger end is not told for a moment, and asks for it again: %s', (_, reply) => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({
        latencyMs: 120,
        fault: ({ path }, n) => (path.endsWith('ledger-end') && n === 1 ? reply : undefined),
      });
      fill(ledger, ...upTo(300));
      const seen = observe(feed().pipe(takeUntil(timer(120_000))));
      flush();
      expect(offsets(seen.values)).toEqual(upTo(300));
      // 1, 4, 16, 64, 200 and a few: not one update a round trip
      expect(seen.times.at(-1)).toBeLessThan(2_000);
      const asked = service.asked.filter(({ path }) => path.endsWith('ledger-end'));
      expect(asked.length).toBeGreaterThan(1);
      expect(asked.length).toBeLessThan(12);
    });
  });

  it.each([
    ['504', failed(504, '<html>Gateway Time-out</html>')],
    ['408', failed(408, '')],
    ['a reset', new Error('socket hang up')],
  ])('behind a proxy that cuts a poll before it is answered: %s', (_, reply) => {
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

  it('with its grace for an end that lags, also after an outage that was longer', () => {
    marbles(({ flush }) => {
      const start = asyncScheduler.now();
      const age = (): number => asyncScheduler.now() - start;
      const { ledger, feed } = world({
        latencyMs: 5,
        fault: ({ path }) => {
          if (age() < 30_000) return failed(503, 'down');
          // a replica that lags
          return path.endsWith('ledger-end') && age() < 33_000
            ? { status: 200, headers: {}, text: '{"offset":3}' }
            : undefined;
        },
      });
      fill(ledger, 5, 6);
      const seen = observe(
        feed({ beginExclusive: 5 }, { retry: { maxDelayMs: 1_000 } }).pipe(takeUntil(timer(90_000))),
      );
      flush();
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.values)).toEqual([6]);
    });
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])(
    'to a bound that is far ahead on a service that does not tell its ledger end: %i',
    (i) => {
      marbles(({ flush }) => {
        // so slow that the end is asked for again in the middle of a page, with one of these
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
    },
  );

  it('with its whole grace, however long the last wait of an outage was', () => {
    marbles(({ flush }) => {
      jest.spyOn(Math, 'random').mockReturnValue(1);
      const replies = [...upTo(7).map(() => failed(503, 'down')), { status: 200, headers: {}, text: '{"offset":3}' }];
      const { ledger, feed } = world({
        latencyMs: 5,
        fault: ({ path }, n) => (path.endsWith('ledger-end') ? replies[n - 1] : undefined),
      });
      fill(ledger, 5, 6);
      // waits double up to 16 seconds, then one answer lags
      const retry = { baseDelayMs: 250, maxDelayMs: 16_000 };
      const seen = observe(feed({ beginExclusive: 5 }, { retry }).pipe(takeUntil(timer(120_000))));
      flush();
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.values)).toEqual([6]);
    });
  });

  it('where a replica tells an end that another has not reached', () => {
    marbles(({ flush }) => {
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
});

describe('a feed does not ask in a loop', () => {
  it('where a service tells an end and refuses to go as far', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({
        latencyMs: 5,
        fault: ({ path }) => (isPage(path) ? failed(400, canton('OFFSET_AFTER_LEDGER_END', 12)) : undefined),
      });
      fill(ledger, 100);
      const seen = observe(feed({ beginExclusive: 50 }));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'ApiError', code: 'OFFSET_AFTER_LEDGER_END' });
      expect(service.asked.length).toBeLessThan(100);
    });
  });

  it('when it is told to wait for longer than a timer can count', () => {
    marbles(({ flush }) => {
      const { service, feed } = world({ fault: () => failed(429, '', { 'retry-after': '1000000000' }) });
      // what a timer can count to is not quite 25 days
      const days = 24 * 3_600_000;
      const seen = observe(feed({}, { retry: { giveUpAfterMs: Infinity } }).pipe(takeUntil(timer(30 * days))));
      flush();
      expect(seen.error).toBeUndefined();
      expect(service.asked).toHaveLength(2);
    });
  });

  it('and asks once more when its time is over, however long it is told to wait', () => {
    marbles(({ flush }) => {
      const { service, feed } = world({ fault: () => failed(429, '', { 'retry-after': '600' }) });
      const seen = observe(feed());
      flush();
      expect(seen.error).toMatchObject({ _tag: 'ApiError', status: 429 });
      expect(seen.endedAt).toBe(300_000);
      expect(service.asked).toHaveLength(2);
    });
  });
});

describe('a feed that was cut once', () => {
  it('waits as long as before again, little by little', () => {
    marbles(({ flush }) => {
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
      const waits = service.asked.flatMap(({ query }) => query['stream_idle_timeout_ms'] ?? []).map(Number);
      expect(waits.slice(0, 3)).toEqual([5_000, 1_000, 1_100]);
      expect(waits.at(-1)).toBe(12_000);
    });
  });
});

describe('a feed to which nothing happens', () => {
  const waitsOf = (options: Pick<UpdatesOptions, 'idleTimeoutMs'>): readonly number[] => {
    const waits: number[] = [];
    marbles(({ flush }) => {
      const { service, feed } = world();
      observe(feed({}, options).pipe(takeUntil(timer(60_000))));
      flush();
      waits.push(...service.asked.flatMap(({ query }) => query['stream_idle_timeout_ms'] ?? []).map(Number));
    });
    return waits;
  };

  it('asks for longer waits after two', () => {
    expect(waitsOf({})).toEqual([5_000, 5_000, 12_000, 12_000, 12_000, 12_000, 12_000]);
  });

  it('asks for those that it was told', () => {
    expect(waitsOf({ idleTimeoutMs: 9_000 })).toEqual(Array.from({ length: 7 }, () => 9_000));
  });
});

describe('a descending feed', () => {
  it('does not go on in pages of one, in which a wrong order would not be seen', () => {
    marbles(({ flush }) => {
      const { ledger, client } = world({ maxListElements: 1 });
      fill(ledger, 3, 7, 9);
      const seen = observe(client.updates({ beginExclusive: 0, endInclusive: 9, descendingOrder: true, updateFormat }));
      flush();
      expect(seen.values).toEqual([]);
      expect(seen.error).toMatchObject({ _tag: 'PageLimitError' });
    });
  });
});

describe('a verdict of the ledger', () => {
  it.each([
    ['category 6, which a token may mend', failed(401, canton('UNAUTHENTICATED', 6)), 'UnauthorizedError'],
    ['category 7, which none mends', failed(403, canton('PERMISSION_DENIED', 7)), 'ApiError'],
  ])('is heard: %s', (_, reply, tag) => {
    marbles(({ flush }) => {
      const { feed } = world({ fault: () => reply });
      const seen = observe(feed());
      flush();
      expect(seen.error).toMatchObject({ _tag: tag });
    });
  });
});
