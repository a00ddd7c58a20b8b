import { describe, expect, it } from '@jest/globals';
import { asyncScheduler, defer, lastValueFrom, type Observable, of, switchMap, tap, timer } from 'rxjs';
import type { Handler, Work } from '../../src/process/ProcessOptions.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { processFeed } from '../../src/process/processFeed.js';
import { updatesFeed } from '../../src/process/updatesFeed.js';
import { effort } from '../helpers/effort.js';
import { observe } from '../helpers/observe.js';
import { scriptedService } from '../helpers/scripted.js';
import { fill, updateFormat, upTo } from '../helpers/world.js';
import { transaction, ok } from '../helpers/wire.js';
import { marbles } from '../helpers/time.js';
import {
  mockPlatform,
  name,
  PlainStore,
  type ProcessWorld,
  processWorld,
  recordingHandler,
  run,
  until,
} from './support.js';

mockPlatform();

const hang = () => timer(36_000_000);
const isPage = (path: string): boolean => path.startsWith('/v2/updates');

/** A ledger with very many updates, whose pages are created on request. */
function endless(end: number, latencyMs: number) {
  const count = { delivered: 0 };
  const service = scriptedService(({ path, body, query }) => {
    if (!isPage(path)) return of(ok({ offset: end, participantId: 'participant1::1220ab' }));
    const begin = Number(body['beginExclusive']);
    const size = Math.min(Number(query['limit']), Number(body['endInclusive'] ?? end) - begin);
    const reply$ = defer(() => {
      // a page begins with an update that was delivered before
      count.delivered = Math.max(count.delivered, begin + size);
      return of(ok(upTo(size).map((n) => transaction(begin + n))));
    });
    return latencyMs === 0 ? reply$ : timer(latencyMs).pipe(switchMap(() => reply$));
  });
  return { client: createLedger({ baseUrl: 'http://ledger.example', port: service.port }), count };
}

/** How many updates are delivered and not handled, at most and at least. */
class Pending {
  handled = 0;
  most = 0;
  least = Infinity;

  constructor(private readonly delivered: () => number) {}

  /** Handles some updates, which takes a time. */
  handle(updates: number, ms: number) {
    this.note();
    return timer(ms).pipe(
      tap(() => {
        this.note();
        if (this.handled > 0) this.least = Math.min(this.least, this.delivered() - this.handled - updates);
        this.handled += updates;
      }),
    );
  }

  private note(): void {
    this.most = Math.max(this.most, this.delivered() - this.handled);
  }
}

describe('a slow handler', () => {
  it.each([1, 7, 200])('has at most two pages of %i pending, and never none (G44)', (maxPageSize) => {
    marbles(({ flush }) => {
      const { client, count } = endless(100_000, 5);
      const pending = new Pending(() => count.delivered);
      const feed = updatesFeed(client, { beginExclusive: 0, updateFormat }, { maxPageSize });
      observe(processFeed(feed, () => pending.handle(1, 60)).pipe(until(60_000)));
      flush();
      expect(pending.handled).toBeGreaterThan(900);
      expect(pending.most).toBeLessThanOrEqual(2 * maxPageSize);
      // the next page has arrived before the last one is handled
      expect(pending.least).toBeGreaterThan(0);
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
        const pending = new Pending(() => count.delivered);
        const feed = updatesFeed(client, { beginExclusive: 0, updateFormat }, { maxPageSize });
        const handle = (works: readonly Work[]) => pending.handle(works.length, 1_000);
        observe(processFeed(feed, handle, { batch: { size, withinMs: 100 } }).pipe(until(60_000)));
        flush();
        // full batches, one after the other
        expect(pending.handled).toBeGreaterThan(57 * size);
        expect(pending.most).toBeLessThanOrEqual(Math.max(maxPageSize, 2 * size - 1) + maxPageSize);
      });
    },
  );

  it('that hangs requests nothing beyond the next page (G44)', () => {
    const hangs = () => timer(3_600_000);
    const { service } = run({ updates: 1_000, handle: hangs, options: { stopWithinMs: 0 }, ms: 3_000_000 });
    expect(service.requests.filter(({ path }) => isPage(path))).toHaveLength(2);
  });

  const quiet = { maxPageSize: 10, stopWithinMs: 0 };
  const batched = { maxPageSize: 5, stopWithinMs: 0, batch: { size: 5, withinMs: 100 } };

  it.each<[string, number, (world: ProcessWorld) => Observable<unknown>]>([
    ['a page has updates', 1, ({ process }) => process(hang, quiet)],
    [
      'a page has updates, with a store',
      1,
      ({ process }) => process(hang, { ...quiet, store: new PlainStore(), name }),
    ],
    ['two batches have updates', 5, ({ processBatches }) => processBatches(hang, batched)],
  ])('that hangs polls a quiet ledger no more often than %s', (_, updates, start) => {
    marbles(({ flush }) => {
      const made = processWorld(updates);
      observe(start(made).pipe(until(30_000_000)));
      flush();
      expect(made.service.requests.filter(({ path }) => isPage(path)).length).toBeLessThanOrEqual(12);
    });
  });

  it('of batches with a long wait still polls a quiet ledger, and gets a full batch at once', () => {
    marbles(({ flush }) => {
      const { ledger, processBatches } = processWorld(1);
      const batches: (readonly [number, number])[] = [];
      const handle = (works: readonly Work[]) => void batches.push([works.length, asyncScheduler.now()]);
      const options = { maxPageSize: 1, batch: { size: 2, withinMs: 3_600_000 } };
      timer(600_000).subscribe(() => {
        fill(ledger, 2, 3);
      });
      observe(processBatches(handle, options).pipe(until(5_000_000)));
      flush();
      expect(batches.map(([size]) => size)).toEqual([2, 1]);
      expect(batches[0]?.[1]).toBeLessThan(601_000);
    });
  });

  it('has no more pending while updates arrive one at a time', () => {
    marbles(({ flush }) => {
      const { ledger, process, service } = processWorld();
      const pending = new Pending(() =>
        Math.max(...service.requests.map(({ body }) => Number(body['beginExclusive'] ?? 0))),
      );
      observe(process(() => pending.handle(1, 1_000), { maxPageSize: 10 }).pipe(until(120_000)));
      for (const n of upTo(500))
        timer(n * 200).subscribe(() => {
          fill(ledger, n);
        });
      flush();
      expect(pending.handled).toBeGreaterThan(100);
      expect(pending.most).toBeLessThanOrEqual(20);
    });
  });

  it('is not pushed updates over a WebSocket, whatever the options', () => {
    marbles(({ flush }) => {
      const { ledger, sockets, websocket, process } = processWorld(5);
      const handled: number[] = [];
      observe(
        process(({ offset }) => void handled.push(offset), { ...websocket, maxPageSize: 200 }).pipe(until(10_000)),
      );
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
  // the ledger end, the participant and eleven pages; and the slow handler takes as long for a page as the service
  it.each([
    [0, 12 * 20 + 5],
    [0.1, 13 * 20 + 10],
  ])('gets pages as fast as the service sends them: %d ms for each update', (durationMs, mostMs) => {
    marbles(({ flush }) => {
      const { handled, handle } = recordingHandler(durationMs);
      const seen = observe(processWorld(2_000, { latencyMs: 20 }).process(handle, {}, { endInclusive: 2_000 }));
      flush();
      expect(handled).toEqual(upTo(2_000));
      expect(seen.endedAt).toBeLessThanOrEqual(mostMs);
    });
  });
});

/** The number of updates in long runs. */
const many = effort(10_000, 100_000);
const fewer = Math.floor(many / 10);

describe('very many updates', () => {
  /** Processes the updates of a ledger to its end, in real time. */
  const processAll = async (end: number, latencyMs: number, maxPageSize: number, handle: Handler, options = {}) => {
    const { client, count } = endless(end, latencyMs);
    let handled = 0;
    let most = 0;
    const feed = updatesFeed(client, { beginExclusive: 0, endInclusive: end, updateFormat }, { maxPageSize });
    const handler: Handler = (update, ...context) => {
      handled += 1;
      if (update.offset !== handled) throw new Error(`${update.offset} is out of order`);
      most = Math.max(most, count.delivered - handled);
      return handle(update, ...context);
    };
    await lastValueFrom(processFeed(feed, handler, options));
    expect(handled).toBe(end);
    expect(most).toBeLessThanOrEqual(2 * maxPageSize);
  };

  it.each<[string, number, number, number, { readonly commitEvery?: { readonly updates: number } }]>([
    ['in synchronous pages of 200', many, 0, 200, {}],
    ['in pages of 2000', many, 1, 2_000, {}],
    ['in pages of 200, each update committed', fewer, 0, 200, { commitEvery: { updates: 1 } }],
    ['in pages of 2000, each update committed', fewer, 1, 2_000, { commitEvery: { updates: 1 } }],
    ['in pages of one', fewer, 0, 1, {}],
  ])(
    'that take no time do not overflow the stack, %s, and at most two pages are pending',
    (_, end, latencyMs, maxPageSize, how) =>
      processAll(end, latencyMs, maxPageSize, () => undefined, { store: new PlainStore(), name, ...how }),
  );

  it('of which the first of a page takes time do not overflow the stack', () =>
    processAll(many, 0, 5_000, ({ offset }) => (offset % 5_000 === 1 ? Promise.resolve() : undefined)));

  it('that arrive one by one while the handler is busy do not overflow the stack', () => {
    const count = effort(1_000, 4_000);
    const { handled } = run({
      updates: 0,
      world: { maxListElements: 5_000 },
      prepare: ({ ledger }) => {
        for (const n of upTo(count))
          timer(n * 40).subscribe(() => {
            fill(ledger, n);
          });
      },
      handle: (update, record) => {
        void record(update);
        return update.offset === 1 ? timer(200_000) : undefined;
      },
      options: { maxPageSize: 5_000 },
      ms: 300_000,
    });
    expect(handled).toEqual(upTo(count));
  });
});
