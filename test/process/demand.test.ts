import { describe, expect, it } from '@jest/globals';
import { asyncScheduler, delay, of, tap, timer } from 'rxjs';
import type { HttpPort } from '../../src/http/HttpPort.js';
import type { ProcessOptions, Work } from '../../src/process/ProcessOptions.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { processFeed } from '../../src/process/processFeed.js';
import { updatesFeed } from '../../src/process/updatesFeed.js';
import { effort } from '../helpers/effort.js';
import { observe } from '../helpers/observe.js';
import { scriptedService } from '../helpers/scripted.js';
import { fill, updateFormat, upTo } from '../helpers/world.js';
import { transaction, ok } from '../helpers/wire.js';
import { marbles } from '../helpers/time.js';
import { mockPlatform, name, PlainStore, until, recordingHandler, processWorld } from './support.js';

mockPlatform();

const isPage = (path: string): boolean => path.startsWith('/v2/updates');

/** A ledger with very many updates, whose pages are created on request. */
function endless(end: number, latencyMs: number) {
  const count = { delivered: 0 };
  const service = scriptedService(({ path, body, query }) => {
    if (!isPage(path)) return of(ok({ offset: end, participantId: 'participant1::1220ab' }));
    const begin = Number(body['beginExclusive']);
    const size = Math.min(Number(query['limit']), Number(body['endInclusive'] ?? end) - begin);
    const reply$ = of(ok(upTo(size).map((n) => transaction(begin + n))));
    const counted$ = reply$.pipe(
      tap(() => {
        count.delivered += size;
      }),
    );
    return latencyMs === 0 ? counted$ : counted$.pipe(delay(latencyMs));
  });
  const port: HttpPort = service.port;
  const client = createLedger({ baseUrl: 'http://ledger.example', port });
  return { client, count, service };
}

describe('a slow handler', () => {
  it.each([1, 7, 200])('has at most two pages of %i pending, and never none (G44)', (maxPageSize) => {
    marbles(({ flush }) => {
      const { client, count } = endless(100_000, 5);
      let handled = 0;
      let most = 0;
      let least = Infinity;
      const request = { beginExclusive: 0, updateFormat };
      observe(
        processFeed(updatesFeed(client, request, { maxPageSize }), () => {
          most = Math.max(most, count.delivered - handled);
          return timer(60).pipe(
            tap(() => {
              handled += 1;
              if (handled > 1) least = Math.min(least, count.delivered - handled);
            }),
          );
        }).pipe(until(60_000)),
      );
      flush();
      expect(handled).toBeGreaterThan(900);
      expect(most).toBeLessThanOrEqual(2 * maxPageSize);
      // the next page has arrived before the last one is handled
      expect(least).toBeGreaterThan(0);
    });
  });

  it.each([
    [10, 35],
    [200, 450],
    [200, 50],
    [7, 7],
  ])(
    'with pages of %i and batches of %i always gets full batches, with at most two batches and a page pending',
    (maxPageSize, size) => {
      marbles(({ flush }) => {
        const { client, count } = endless(100_000, 5);
        let handled = 0;
        let most = 0;
        observe(
          processFeed(
            updatesFeed(client, { beginExclusive: 0, updateFormat }, { maxPageSize }),
            (works: readonly Work[]) => {
              most = Math.max(most, count.delivered - handled);
              return timer(1_000).pipe(
                tap(() => {
                  most = Math.max(most, count.delivered - handled);
                  handled += works.length;
                }),
              );
            },
            { batch: { size, withinMs: 100 } },
          ).pipe(until(60_000)),
        );
        flush();
        // full batches, one after the other
        expect(handled).toBeGreaterThan(57 * size);
        expect(most).toBeLessThanOrEqual(Math.max(maxPageSize, 2 * size - 1) + maxPageSize);
      });
    },
  );

  it('that hangs requests nothing beyond the next page (G44)', () => {
    marbles(({ flush }) => {
      const { process, service } = processWorld(1_000);
      observe(process(() => timer(3_600_000), { stopWithinMs: 0 }).pipe(until(3_000_000)));
      flush();
      expect(service.requests.filter(({ path }) => isPage(path))).toHaveLength(2);
    });
  });

  it.each<[string, ProcessOptions & { readonly batch?: undefined }]>([
    ['updates', {}],
    ['updates, and with a store', { store: new PlainStore(), name }],
  ])('that hangs polls a quiet ledger no more often than a page has %s', (_, more) => {
    marbles(({ flush }) => {
      const { process, service } = processWorld(1);
      const options = { maxPageSize: 10, stopWithinMs: 0, ...more };
      observe(process(() => timer(36_000_000), options).pipe(until(30_000_000)));
      flush();
      expect(service.requests.filter(({ path }) => isPage(path)).length).toBeLessThanOrEqual(12);
    });
  });

  it('of batches that hangs polls a quiet ledger no more often than two batches have updates', () => {
    marbles(({ flush }) => {
      const { processBatches, service } = processWorld(5);
      const batch = { size: 5, withinMs: 100 };
      const options = { maxPageSize: 5, stopWithinMs: 0, batch };
      observe(processBatches(() => timer(36_000_000), options).pipe(until(30_000_000)));
      flush();
      expect(service.requests.filter(({ path }) => isPage(path)).length).toBeLessThanOrEqual(12);
    });
  });

  it('of batches with a long wait still polls a quiet ledger, and gets a full batch at once', () => {
    marbles(({ flush }) => {
      const { ledger, processBatches } = processWorld(1);
      const batches: (readonly [number, number])[] = [];
      const options = { maxPageSize: 1, batch: { size: 2, withinMs: 3_600_000 } };
      timer(600_000).subscribe(() => {
        fill(ledger, 2, 3);
      });
      observe(
        processBatches((works) => void batches.push([works.length, asyncScheduler.now()]), options).pipe(
          until(5_000_000),
        ),
      );
      flush();
      expect(batches).toEqual([
        [2, expect.any(Number)],
        [1, expect.any(Number)],
      ]);
      expect(batches[0]?.[1]).toBeLessThan(601_000);
    });
  });

  it('has no more pending while updates arrive one at a time', () => {
    marbles(({ flush }) => {
      const { ledger, process, service } = processWorld();
      let delivered = 0;
      let handled = 0;
      let most = 0;
      observe(
        process(
          () =>
            timer(1_000).pipe(
              tap(() => {
                handled += 1;
                delivered = Math.max(...service.requests.map(({ body }) => Number(body['beginExclusive'] ?? 0)));
                most = Math.max(most, delivered - handled);
              }),
            ),
          { maxPageSize: 10 },
        ).pipe(until(120_000)),
      );
      for (const n of upTo(500))
        timer(n * 200).subscribe(() => {
          fill(ledger, n);
        });
      flush();
      expect(handled).toBeGreaterThan(100);
      expect(most).toBeLessThanOrEqual(20);
    });
  });

  it('is not pushed updates over a WebSocket, whatever the options', () => {
    marbles(({ flush }) => {
      const { ledger, sockets, websocket, process } = processWorld(5);
      const options = { ...websocket, maxPageSize: 200 };
      const handled: number[] = [];
      observe(process(({ offset }) => void handled.push(offset), options).pipe(until(10_000)));
      timer(5_000).subscribe(() => {
        fill(ledger, 6);
      });
      flush();
      expect(handled).toEqual(upTo(6));
      expect(sockets.requests).toEqual([]);
    });
  });
});

describe('a fast handler', () => {
  it('gets pages as fast as the service sends them', () => {
    marbles(({ flush }) => {
      const { process } = processWorld(2_000, { latencyMs: 20 });
      // the slow handler takes as long for a page as the service
      const { handled, handle } = recordingHandler();
      const slow = recordingHandler(0.1);
      const fast = observe(process(handle, {}, { endInclusive: 2_000 }));
      const both = observe(process(slow.handle, {}, { endInclusive: 2_000 }));
      flush();
      expect(handled).toEqual(upTo(2_000));
      expect(slow.handled).toEqual(upTo(2_000));
      // the ledger end and ten pages
      expect(fast.endedAt).toBeLessThanOrEqual(11 * 20 + 5);
      // and then the updates of the last page
      expect(both.endedAt).toBeLessThanOrEqual(12 * 20 + 10);
    });
  });
});

/** The number of updates in long runs. */
const many = effort(10_000, 100_000);
const fewer = Math.floor(many / 10);

describe('very many updates', () => {
  it.each<[string, number, number, number, { readonly commitEvery?: { readonly updates: number } }]>([
    ['in synchronous pages of 200', many, 0, 200, {}],
    ['in pages of 2000', many, 1, 2_000, {}],
    ['in pages of 200, each update committed', fewer, 0, 200, { commitEvery: { updates: 1 } }],
    ['in pages of 2000, each update committed', fewer, 1, 2_000, { commitEvery: { updates: 1 } }],
    ['in pages of one', fewer, 0, 1, {}],
  ])(
    'that take no time do not overflow the stack, %s, and at most two pages are pending',
    async (_, end, latencyMs, size, how) => {
      const { client, count } = endless(end, latencyMs);
      let handled = 0;
      let most = 0;
      const store = new PlainStore();
      await new Promise<void>((resolve, reject) => {
        processFeed(
          updatesFeed(client, { beginExclusive: 0, endInclusive: end, updateFormat }, { maxPageSize: size }),
          ({ offset }) => {
            handled += 1;
            if (offset !== handled) throw new Error(`${offset} is out of order`);
            most = Math.max(most, count.delivered - handled);
          },
          { store, name, ...how },
        ).subscribe({ error: reject, complete: resolve });
      });
      expect(handled).toBe(end);
      expect(most).toBeLessThanOrEqual(2 * size);
    },
  );

  it('of which the first of a page takes time do not overflow the stack', async () => {
    const end = many;
    const { client } = endless(end, 0);
    let handled = 0;
    await new Promise<void>((resolve, reject) => {
      processFeed(
        updatesFeed(client, { beginExclusive: 0, endInclusive: end, updateFormat }, { maxPageSize: 5_000 }),
        () => {
          handled += 1;
          return handled % 5_000 === 1 ? Promise.resolve() : undefined;
        },
      ).subscribe({ error: reject, complete: resolve });
    });
    expect(handled).toBe(end);
  });

  it('that arrive one by one while the handler is busy do not overflow the stack', () => {
    marbles(({ flush }) => {
      const count = effort(1_000, 4_000);
      const { ledger, process } = processWorld(0, { maxListElements: 5_000 });
      const handled: number[] = [];
      observe(
        process(
          ({ offset }) => {
            handled.push(offset);
            return offset === 1 ? timer(200_000) : undefined;
          },
          { maxPageSize: 5_000 },
        ).pipe(until(300_000)),
      );
      for (const n of upTo(count))
        timer(n * 40).subscribe(() => {
          fill(ledger, n);
        });
      flush();
      expect(handled).toEqual(upTo(count));
    });
  });
});
