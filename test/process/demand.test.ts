import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, delay, of, tap, timer } from 'rxjs';
import type { HttpPort } from '../../src/http/HttpPort.js';
import type { ProcessOptions, Work } from '../../src/process/ProcessOptions.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { marbles } from '../helpers/marbles.js';
import { observe } from '../helpers/observe.js';
import { ok, scripted } from '../helpers/scripted.js';
import { fill, updateFormat, upTo } from '../helpers/world.js';
import { transaction } from '../helpers/wire.js';
import { hashAtOnce, name, PlainStore, until, worker, workshop } from './support.js';

beforeEach(() => {
  hashAtOnce();
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const isPage = (path: string): boolean => path.startsWith('/v2/updates');

/** A ledger without an end to speak of: it makes its pages as they are asked for. */
function endless(end: number, latencyMs: number) {
  const given = { delivered: 0 };
  const service = scripted(({ path, body, query }) => {
    if (!isPage(path)) return of(ok({ offset: end, participantId: 'participant1::1220ab' }));
    const begin = Number(body['beginExclusive']);
    const count = Math.min(Number(query['limit']), Number(body['endInclusive'] ?? end) - begin);
    const reply$ = of(ok(upTo(count).map((n) => transaction(begin + n))));
    const counted$ = reply$.pipe(
      tap(() => {
        given.delivered += count;
      }),
    );
    return latencyMs === 0 ? counted$ : counted$.pipe(delay(latencyMs));
  });
  const port: HttpPort = service.port;
  const client = createLedger({ baseUrl: 'http://ledger.example', port });
  return { client, given, service };
}

describe('a slow handler', () => {
  it.each([1, 2, 7, 50, 199, 200])('has two pages of %i waiting for it at most, and always one', (maxPageSize) => {
    marbles(({ flush }) => {
      const { client, given } = endless(100_000, 5);
      let handled = 0;
      let most = 0;
      let least = Infinity;
      const request = { beginExclusive: 0, updateFormat };
      observe(
        client
          .process(
            request,
            () => {
              most = Math.max(most, given.delivered - handled);
              return timer(60).pipe(
                tap(() => {
                  handled += 1;
                  if (handled > 1) least = Math.min(least, given.delivered - handled);
                }),
              );
            },
            { maxPageSize },
          )
          .pipe(until(60_000)),
      );
      flush();
      expect(handled).toBeGreaterThan(900);
      expect(most).toBeLessThanOrEqual(2 * maxPageSize);
      // the next page is there before the one before is done
      expect(least).toBeGreaterThan(0);
    });
  });

  it.each([
    [10, 35],
    [200, 450],
    [200, 50],
    [7, 7],
  ])(
    'with pages of %i and batches of %i has full ones all the time, and a page more than two of them waiting at most',
    (maxPageSize, size) => {
      marbles(({ flush }) => {
        const { client, given } = endless(100_000, 5);
        let handled = 0;
        let most = 0;
        observe(
          client
            .process(
              { beginExclusive: 0, updateFormat },
              (works: readonly Work[]) => {
                most = Math.max(most, given.delivered - handled);
                return timer(1_000).pipe(
                  tap(() => {
                    most = Math.max(most, given.delivered - handled);
                    handled += works.length;
                  }),
                );
              },
              { maxPageSize, batch: { size, withinMs: 100 } },
            )
            .pipe(until(60_000)),
        );
        flush();
        // full ones, one after the other
        expect(handled).toBeGreaterThan(57 * size);
        expect(most).toBeLessThanOrEqual(Math.max(maxPageSize, 2 * size - 1) + maxPageSize);
      });
    },
  );

  it('that hangs has nothing asked for beyond the next page', () => {
    marbles(({ flush }) => {
      const { work, service } = workshop(1_000);
      observe(work(() => timer(3_600_000), { stopWithinMs: 0 }).pipe(until(3_000_000)));
      flush();
      expect(service.asked.filter(({ path }) => isPage(path))).toHaveLength(2);
    });
  });

  it.each<[string, ProcessOptions & { readonly batch?: undefined }]>([
    ['updates', {}],
    ['updates and with its place saved', { store: new PlainStore(), name }],
  ])('that hangs has a quiet ledger asked no more often than a page has %s', (_, options) => {
    marbles(({ flush }) => {
      const { work, service } = workshop(1);
      const how = { maxPageSize: 10, stopWithinMs: 0, ...options };
      observe(work(() => timer(36_000_000), how).pipe(until(30_000_000)));
      flush();
      expect(service.asked.filter(({ path }) => isPage(path)).length).toBeLessThanOrEqual(12);
    });
  });

  it('of batches that hangs has a quiet ledger asked no more often than two batches have updates', () => {
    marbles(({ flush }) => {
      const { workInBatches, service } = workshop(5);
      const batch = { size: 5, withinMs: 100 };
      const how = { maxPageSize: 5, stopWithinMs: 0, batch };
      observe(workInBatches(() => timer(36_000_000), how).pipe(until(30_000_000)));
      flush();
      expect(service.asked.filter(({ path }) => isPage(path)).length).toBeLessThanOrEqual(12);
    });
  });

  it('of batches that wait for long has a quiet ledger asked on, and full ones at once', () => {
    marbles(({ flush }) => {
      const { ledger, workInBatches } = workshop(1);
      const batches: (readonly [number, number])[] = [];
      const how = { maxPageSize: 1, batch: { size: 2, withinMs: 3_600_000 } };
      timer(600_000).subscribe(() => {
        fill(ledger, 2, 3);
      });
      observe(workInBatches((works) => batches.push([works.length, asyncScheduler.now()]), how).pipe(until(5_000_000)));
      flush();
      expect(batches).toEqual([
        [2, expect.any(Number)],
        [1, expect.any(Number)],
      ]);
      expect(batches[0]?.[1]).toBeLessThan(601_000);
    });
  });

  it('holds no more while updates come one at a time', () => {
    marbles(({ flush }) => {
      const { ledger, work, service } = workshop();
      let delivered = 0;
      let handled = 0;
      let most = 0;
      observe(
        work(
          () =>
            timer(1_000).pipe(
              tap(() => {
                handled += 1;
                delivered = Math.max(...service.asked.map(({ body }) => Number(body['beginExclusive'] ?? 0)));
                most = Math.max(most, delivered - handled);
              }),
            ),
          { maxPageSize: 10 },
        ).pipe(until(120_000)),
      );
      for (const n of upTo(2_000))
        timer(n * 50).subscribe(() => {
          fill(ledger, n);
        });
      flush();
      expect(handled).toBeGreaterThan(100);
      expect(most).toBeLessThanOrEqual(20);
    });
  });

  it('is not pushed anything, whatever options it was given', () => {
    marbles(({ flush }) => {
      const options = { transport: 'websocket', maxPageSize: 200 } as const;
      const { ledger, sockets, work } = workshop(5);
      const handled: number[] = [];
      observe(work(({ offset }) => void handled.push(offset), options).pipe(until(10_000)));
      timer(5_000).subscribe(() => {
        fill(ledger, 6);
      });
      flush();
      expect(handled).toEqual(upTo(6));
      expect(sockets.asked).toEqual([]);
    });
  });
});

describe('a fast handler', () => {
  it('has its pages as fast as the service gives them', () => {
    marbles(({ flush }) => {
      const { work } = workshop(2_000, { latencyMs: 20 });
      // as long as a page takes
      const { handled, handle } = worker();
      const slow = worker(0.1);
      const fast = observe(work(handle, {}, { endInclusive: 2_000 }));
      const both = observe(work(slow.handle, {}, { endInclusive: 2_000 }));
      flush();
      expect(handled).toEqual(upTo(2_000));
      expect(slow.handled).toEqual(upTo(2_000));
      // ledger end and ten pages
      expect(fast.endedAt).toBeLessThanOrEqual(11 * 20 + 5);
      // the work of the last page behind that
      expect(both.endedAt).toBeLessThanOrEqual(12 * 20 + 10);
    });
  });
});

describe('a hundred thousand updates', () => {
  it.each<[string, number, number, number, { readonly commitEvery?: { readonly updates: number } }]>([
    ['in pages of 200 that come at once', 100_000, 0, 200, {}],
    ['in pages of 2000', 100_000, 1, 2_000, {}],
    ['in pages of 200, each update committed', 10_000, 0, 200, { commitEvery: { updates: 1 } }],
    ['in pages of 2000, each update committed', 10_000, 1, 2_000, { commitEvery: { updates: 1 } }],
    ['in pages of one', 10_000, 0, 1, {}],
  ])(
    'that take no time overflow no stack, %s, and no more than two pages are held',
    async (_, end, latencyMs, size, how) => {
      const { client, given } = endless(end, latencyMs);
      let handled = 0;
      let most = 0;
      const store = new PlainStore();
      await new Promise<void>((resolve, reject) => {
        client
          .process(
            { beginExclusive: 0, endInclusive: end, updateFormat },
            ({ offset }) => {
              handled += 1;
              if (offset !== handled) throw new Error(`${offset} is out of order`);
              most = Math.max(most, given.delivered - handled);
            },
            { maxPageSize: size, store, name, ...how },
          )
          .subscribe({ error: reject, complete: resolve });
      });
      expect(handled).toBe(end);
      expect(most).toBeLessThanOrEqual(2 * size);
    },
  );

  it('of which the first of a page takes time overflow no stack', async () => {
    const end = 100_000;
    const { client } = endless(end, 0);
    let handled = 0;
    await new Promise<void>((resolve, reject) => {
      client
        .process(
          { beginExclusive: 0, endInclusive: end, updateFormat },
          () => {
            handled += 1;
            return handled % 5_000 === 1 ? Promise.resolve() : undefined;
          },
          { maxPageSize: 5_000 },
        )
        .subscribe({ error: reject, complete: resolve });
    });
    expect(handled).toBe(end);
  });

  it('of which many came one by one while the handler was busy overflow no stack', () => {
    marbles(({ flush }) => {
      const { ledger, work } = workshop(0, { maxListElements: 5_000 });
      const handled: number[] = [];
      observe(
        work(
          ({ offset }) => {
            handled.push(offset);
            return offset === 1 ? timer(200_000) : undefined;
          },
          { maxPageSize: 5_000 },
        ).pipe(until(300_000)),
      );
      for (const n of upTo(4_000))
        timer(n * 40).subscribe(() => {
          fill(ledger, n);
        });
      flush();
      expect(handled).toEqual(upTo(4_000));
    });
  });
});
