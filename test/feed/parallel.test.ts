import { describe, expect, it } from '@jest/globals';
import { asyncScheduler, takeUntil, timer } from 'rxjs';
import { observe, offsets } from '../helpers/observe.js';
import type { ServiceRequest } from '../helpers/scripted.js';
import { fill, upTo, world } from '../helpers/world.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';
import { parallelWorld, every, isBounded, rangesOf } from './worlds.js';

const size = { maxPageSize: 10 };

describe('ranges that are read in parallel', () => {
  itInVirtualTime('are emitted in order, whatever the order of their answers (G7)', ({ flush }) => {
    // answers arrive in the reverse order of the requests
    const { feed, ledger, service } = parallelWorld({ latencyOf: (n) => 100 - ((n * 13) % 90) });
    fill(ledger, ...upTo(300));
    const seen = observe(feed({ endInclusive: 300 }, { ...size, parallelRanges: 7 }));
    flush();
    expect(offsets(seen.values)).toEqual(upTo(300));
    expect(seen.completed).toBe(true);
    expect(service.open).toBe(0);
  });

  it.each([1, 2, 3, 5, 16, undefined])('are at most so many at the same time: %p', (parallelRanges) => {
    marbles(({ flush }) => {
      const given = parallelWorld({ latencyOf: (n) => 30 + ((n * 7) % 40) });
      fill(given.ledger, ...every(3, 600));
      const seen = observe(given.feed({}, { ...size, parallelRanges }).pipe(takeUntil(timer(60_000))));
      flush();
      expect(offsets(seen.values)).toEqual(every(3, 600));
      expect(given.mostOpen()).toBeLessThanOrEqual(parallelRanges ?? 16);
      expect(given.mostOpen()).toBeGreaterThanOrEqual(parallelRanges ?? 12);
    });
  });

  itInVirtualTime('are held until they are due, and no others are requested', ({ flush }) => {
    // the first range takes much longer than the others
    const { feed, ledger, service } = parallelWorld({ latencyOf: (n) => (n === 3 ? 10_000 : 5) });
    fill(ledger, ...upTo(300));
    const seen = observe(feed({ endInclusive: 300 }, { ...size, parallelRanges: 4 }));
    let before: ServiceRequest[] = [];
    timer(9_000).subscribe(() => {
      before = [...service.requests];
      expect(offsets(seen.values)).toEqual(upTo(10));
    });
    flush();
    // the ledger end, the first page, its own three and the head
    expect(rangesOf(before)).toEqual([
      [0, 300],
      [10, 20],
      [20, 30],
      [30, 40],
      [40, 50],
    ]);
    expect(offsets(seen.values)).toEqual(upTo(300));
  });

  it('make catching up as many times faster', () => {
    const tookWith = (parallelRanges: number): number => {
      let took = 0;
      marbles(({ flush }) => {
        const { feed, ledger } = world({ latencyMs: 100 });
        fill(ledger, ...upTo(1_000));
        const seen = observe(feed({ endInclusive: 1_000 }, { ...size, parallelRanges }));
        flush();
        took = seen.endedAt ?? Infinity;
      });
      return took;
    };
    expect(tookWith(10)).toBeLessThan(tookWith(1) / 8);
  });

  itInVirtualTime('are requested after the page before has been emitted, if there is one at a time', ({ flush }) => {
    const emittedAtRequest: number[] = [];
    let emitted = 0;
    const { feed, ledger } = parallelWorld({
      latencyOf: () => 5,
      onRequest: (request) => {
        if (isBounded(request)) emittedAtRequest.push(emitted - Number(request.body['beginExclusive']));
      },
    });
    fill(ledger, ...upTo(100));
    feed({ endInclusive: 100 }, { ...size, parallelRanges: 1 }).subscribe(() => (emitted += 1));
    flush();
    expect(emittedAtRequest).toEqual(Array.from({ length: 10 }, () => 0));
  });

  itInVirtualTime('are all aborted with the feed, and leave no timer', ({ flush }) => {
    const { feed, ledger, service } = parallelWorld({ latencyOf: (n) => (n > 2 ? 50 : 5) });
    fill(ledger, ...upTo(300));
    const { subscription } = observe(feed({}, { ...size, parallelRanges: 6 }));
    timer(30).subscribe(() => {
      expect(service.open).toBe(6);
      subscription.unsubscribe();
      expect(service.open).toBe(0);
      expect(service.aborted).toHaveLength(6);
    });
    flush();
    expect(asyncScheduler.now()).toBeLessThan(1_000);
    expect(service.requests).toHaveLength(8);
  });

  itInVirtualTime('have pages that are nearly full if updates are rare', ({ flush }) => {
    const { feed, ledger, service } = world({ latencyMs: 50 });
    const rare = Array.from({ length: 10_000 }, (_, i) => i * 50 + ((i * 7_919) % 50) + 1);
    fill(ledger, ...rare);
    const seen = observe(feed({ endInclusive: ledger.end }, { parallelRanges: 8 }));
    flush();
    expect(offsets(seen.values)).toEqual(rare);
    // 50 full pages, and for each range a proof that it has no more
    const firsts = service.requests.filter(({ query }) => query['limit'] === '200').length;
    expect(firsts).toBeLessThan(50 / 0.8);
    expect(service.requests.length).toBeLessThan(130);
  });

  it.each([2, 16])('lose nothing between dense and sparse parts of the ledger: %i', (parallelRanges) => {
    marbles(({ flush }) => {
      const given = parallelWorld({ latencyOf: (n) => 20 + ((n * 7) % 10) });
      const all = [
        ...upTo(300),
        ...every(5_000, 10).map((n) => 1_000 + n),
        ...upTo(300).map((n) => 60_000 + n),
        900_000,
      ];
      fill(given.ledger, ...all);
      const seen = observe(given.feed({ endInclusive: 900_000 }, { ...size, parallelRanges }));
      flush();
      expect(offsets(seen.values)).toEqual(all);
      expect(given.mostOpen()).toBeLessThanOrEqual(parallelRanges);
      // one after the other: 63
      expect(given.service.requests.length).toBeLessThan(300);
    });
  });
});

/** The number of requests to read a ledger. */
function requestsFor(all: readonly number[], parallelRanges: number, maxPageSize: number): number {
  let count = 0;
  marbles(({ flush }) => {
    const { feed, ledger, service } = world({ latencyMs: 10 });
    fill(ledger, ...all);
    const seen = observe(feed({ endInclusive: ledger.end }, { maxPageSize, parallelRanges }));
    flush();
    expect(offsets(seen.values)).toEqual(all);
    count = service.requests.length;
  });
  return count;
}

describe('the width of a prefetched range', () => {
  it('is the whole gap before other ranges, so that no page of it is empty', () => {
    const burst = [...every(1_000, 5), ...upTo(30).map((n) => 5_100 + n), ...every(1_000, 20).map((n) => 10_000 + n)];
    // one after the other: one for each update; smaller ranges of the gap would be empty every second time
    expect(requestsFor(burst, 5, 1)).toBeLessThan(100);
  });

  itInVirtualTime('grows fast while nothing matches', ({ flush }) => {
    const { feed, ledger, service } = world({ latencyMs: 10 });
    observe(feed({}, { parallelRanges: 2 }).pipe(takeUntil(timer(60_000))));
    ledger.end = 7;
    timer(20_000).subscribe(() => {
      ledger.end = 1_000_000_000;
    });
    flush();
    expect(service.requests.at(-1)?.body['beginExclusive']).toBe(1_000_000_000);
    const pages = service.requests.filter(({ body }) => 'endInclusive' in body);
    expect(pages.length).toBeLessThan(30);
  });
});
