import { describe, expect, it } from '@jest/globals';
import { asyncScheduler, take, takeUntil, timer } from 'rxjs';
import { marbles } from '../helpers/marbles.js';
import { observe, offsets } from '../helpers/observe.js';
import type { Asked } from '../helpers/scripted.js';
import { fill, upTo, world } from '../helpers/world.js';
import { ahead, every, isBounded, rangesOf } from './aheadWorld.js';

const size = { maxPageSize: 10 };

describe('ranges that are read ahead', () => {
  it('are emitted in order, however their answers come', () => {
    marbles(({ flush }) => {
      // each answer comes before the one that was asked for before it
      const { feed, ledger, service } = ahead({ latencyOf: (n) => 100 - ((n * 13) % 90) });
      fill(ledger, ...upTo(300));
      const seen = observe(feed({ endInclusive: 300 }, { ...size, parallelRanges: 7 }));
      flush();
      expect(offsets(seen.values)).toEqual(upTo(300));
      expect(seen.completed).toBe(true);
      expect(service.open).toBe(0);
    });
  });

  it.each([1, 2, 3, 5, 16, undefined])('are at most so many at a time: %p', (parallelRanges) => {
    marbles(({ flush }) => {
      const given = ahead({ latencyOf: (n) => 30 + ((n * 7) % 40) });
      fill(given.ledger, ...every(3, 600));
      const seen = observe(given.feed({}, { ...size, parallelRanges }).pipe(takeUntil(timer(60_000))));
      flush();
      expect(offsets(seen.values)).toEqual(every(3, 600));
      expect(given.most()).toBeLessThanOrEqual(parallelRanges ?? 16);
      expect(given.most()).toBeGreaterThanOrEqual(parallelRanges ?? 12);
    });
  });

  it('are held until their turn, and no more of them than that', () => {
    marbles(({ flush }) => {
      // the head takes for ever, compared with the rest
      const { feed, ledger, service } = ahead({ latencyOf: (n) => (n === 3 ? 10_000 : 5) });
      fill(ledger, ...upTo(300));
      const seen = observe(feed({ endInclusive: 300 }, { ...size, parallelRanges: 4 }));
      let before: Asked[] = [];
      timer(9_000).subscribe(() => {
        before = [...service.asked];
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
  });

  it('shorten a catch-up by as many as there are', () => {
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

  it('emit a page before they ask for another, and ask for one where there is one at a time', () => {
    marbles(({ flush }) => {
      const emittedAtAsk: number[] = [];
      let emitted = 0;
      const { feed, ledger } = ahead({
        latencyOf: () => 5,
        onAsk: (asked) => {
          if (isBounded(asked)) emittedAtAsk.push(emitted - Number(asked.body['beginExclusive']));
        },
      });
      fill(ledger, ...upTo(100));
      feed({ endInclusive: 100 }, { ...size, parallelRanges: 1 }).subscribe(() => (emitted += 1));
      flush();
      expect(emittedAtAsk).toEqual(Array.from({ length: 10 }, () => 0));
    });
  });

  it('are all aborted with the feed, and leave no timer', () => {
    marbles(({ flush }) => {
      const { feed, ledger, service } = ahead({ latencyOf: (n) => (n > 2 ? 50 : 5) });
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
      expect(service.asked).toHaveLength(8);
    });
  });

  it.each([3, 10, 25])('are not left open by whoever takes only %i', (count) => {
    marbles(({ flush }) => {
      const { feed, ledger, service } = ahead({ latencyOf: () => 5 });
      fill(ledger, ...upTo(300));
      const seen = observe(feed({}, { ...size, parallelRanges: 6 }).pipe(take(count)));
      flush();
      expect(offsets(seen.values)).toEqual(upTo(count));
      expect(service.open).toBe(0);
    });
  });

  it('ask each with a token of its own', () => {
    marbles(({ flush }) => {
      let tokens = 0;
      const { feed, ledger, service } = world({
        latencyMs: 5,
        client: { token: () => `token-${(tokens += 1)}` },
        fault: ({ token }) => (Number(token?.slice(6)) % 5 === 0 ? { status: 401, headers: {}, text: '' } : undefined),
      });
      fill(ledger, ...upTo(300));
      const seen = observe(feed({ endInclusive: 300 }, { ...size, parallelRanges: 4 }));
      flush();
      expect(offsets(seen.values)).toEqual(upTo(300));
      expect(new Set(service.asked.map(({ token }) => token)).size).toBe(service.asked.length);
    });
  });

  it('are asked for in pages that are nearly full where updates are rare', () => {
    marbles(({ flush }) => {
      const { feed, ledger, service } = world({ latencyMs: 50 });
      const rare = Array.from({ length: 10_000 }, (_, i) => i * 50 + ((i * 7_919) % 50) + 1);
      fill(ledger, ...rare);
      const seen = observe(feed({ endInclusive: ledger.end }, { parallelRanges: 8 }));
      flush();
      expect(offsets(seen.values)).toEqual(rare);
      // 50 full pages; each window needs a proof that there is no more in it
      const firsts = service.asked.filter(({ query }) => query['limit'] === '200').length;
      expect(firsts).toBeLessThan(50 / 0.8);
      expect(service.asked.length).toBeLessThan(130);
    });
  });

  it.each([2, 16])('lose nothing between stretches that are dense and stretches that are not: %i', (parallelRanges) => {
    marbles(({ flush }) => {
      const given = ahead({ latencyOf: (n) => 20 + ((n * 7) % 10) });
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
      expect(given.most()).toBeLessThanOrEqual(parallelRanges);
      // one after the other it would be 63
      expect(given.service.asked.length).toBeLessThan(300);
    });
  });
});
