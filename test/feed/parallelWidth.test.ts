import { describe, expect, it } from '@jest/globals';
import { takeUntil, timer } from 'rxjs';
import { marbles } from '../helpers/marbles.js';
import { observe, offsets } from '../helpers/observe.js';
import { fill, upTo, world } from '../helpers/world.js';
import { every } from './aheadWorld.js';

/** How many requests it takes to read a ledger. */
function requestsFor(all: readonly number[], parallelRanges: number, maxPageSize: number): number {
  let count = 0;
  marbles(({ flush }) => {
    const { feed, ledger, service } = world({ latencyMs: 10 });
    fill(ledger, ...all);
    const seen = observe(feed({ endInclusive: ledger.end }, { maxPageSize, parallelRanges }));
    flush();
    expect(offsets(seen.values)).toEqual(all);
    count = service.asked.length;
  });
  return count;
}

describe('how far a page ahead reaches', () => {
  it('is all of a gap before held ranges, so that no page into it is empty', () => {
    const burst = [...every(1_000, 5), ...upTo(30).map((n) => 5_100 + n), ...every(1_000, 20).map((n) => 10_000 + n)];
    // one after the other it would be one for each of them; windows into the gap would be empty one time out of two
    expect(requestsFor(burst, 5, 1)).toBeLessThan(100);
  });

  it('grows fast over a stretch in which nothing matches', () => {
    marbles(({ flush }) => {
      const { feed, ledger, service } = world({ latencyMs: 10 });
      observe(feed({}, { parallelRanges: 2 }).pipe(takeUntil(timer(60_000))));
      ledger.end = 7;
      timer(20_000).subscribe(() => {
        ledger.end = 1_000_000_000;
      });
      flush();
      expect(service.asked.at(-1)?.body['beginExclusive']).toBe(1_000_000_000);
      const pages = service.asked.filter(({ body }) => 'endInclusive' in body);
      expect(pages.length).toBeLessThan(30);
    });
  });
});
