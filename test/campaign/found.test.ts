import { describe, expect, it } from '@jest/globals';
import { takeUntil, timer } from 'rxjs';
import type { LedgerEvent } from '../../src/events/LedgerEvent.js';
import { marbles } from '../helpers/marbles.js';
import { observe, offsets } from '../helpers/observe.js';
import { failed, notFound, ok } from '../helpers/scripted.js';
import { fill, upTo, world } from '../helpers/world.js';

const isEnd = (path: string): boolean => path.endsWith('ledger-end');
const isPage = (path: string): boolean => path.startsWith('/v2/updates');

describe('what the campaign has found', () => {
  it('an event tells of no update beyond the bound, which is not emitted', () => {
    marbles(({ flush }) => {
      const { ledger, client, feed } = world({ latencyMs: 5 });
      const events: LedgerEvent[] = [];
      client.events$.subscribe((event) => events.push(event));
      const seen = observe(feed({ endInclusive: 1 }));
      timer(1_000).subscribe(() => {
        fill(ledger, 2);
      });
      flush();
      expect(seen.completed).toBe(true);
      expect(seen.values).toEqual([]);
      const pages = events.flatMap((event) => (event._tag === 'PageReceived' && event.count > 0 ? [event] : []));
      expect(pages).toHaveLength(1);
      expect(pages[0]).not.toHaveProperty('first');
      expect(pages[0]).not.toHaveProperty('last');
    });
  });

  it('a reset between two pages is told after its grace, not after one grace for each time that it is asked', () => {
    marbles(({ flush }) => {
      const { ledger, feed } = world({ latencyMs: 5 });
      fill(ledger, ...upTo(10));
      const seen = observe(feed({}, { maxPageSize: 2 }));
      // 10 for the end, and from then on a page of two in 5
      timer(12).subscribe(() => {
        ledger.restore(0);
      });
      flush();
      expect(seen.error).toMatchObject({ _tag: 'LedgerResetError', ledgerEnd: 0 });
      expect(seen.endedAt).toBeGreaterThan(10_000);
      expect(seen.endedAt).toBeLessThan(15_000);
    });
  });

  it('patience is not granted once more for each time that a page beyond the end is asked for', () => {
    marbles(({ flush }) => {
      const { ledger, feed } = world({
        latencyMs: 5,
        // the end that the first replica tells is never reached, and then nobody tells any
        fault: ({ path }, n) => {
          if (isEnd(path)) return n === 1 ? ok({ offset: 100 }) : failed(503, 'down');
          return undefined;
        },
      });
      fill(ledger, 1);
      const seen = observe(feed({}, { retry: { giveUpAfterMs: 10_000 } }));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'ApiError', status: 503 });
      expect(seen.endedAt).toBeLessThanOrEqual(11_000);
    });
  });

  it('a bounded feed never goes back to an end that was told before it stood where it stands', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({
        latencyMs: 5,
        fault: ({ path }, n) => {
          // a replica that is behind refuses the page, and the one after it does not tell its end
          if (n === 2) return failed(400, { code: 'OFFSET_AFTER_LEDGER_END', cause: '', errorCategory: 12 });
          return n === 3 && isEnd(path) ? notFound : undefined;
        },
      });
      fill(ledger, 1);
      const seen = observe(feed({ endInclusive: 4 }).pipe(takeUntil(timer(60_000))));
      timer(2_000).subscribe(() => {
        fill(ledger, 2);
      });
      timer(30_000).subscribe(() => {
        fill(ledger, 4);
      });
      flush();
      const ranges = service.asked.filter(({ path, body }) => isPage(path) && 'endInclusive' in body);
      expect(ranges.filter(({ body }) => Number(body['endInclusive']) <= Number(body['beginExclusive']))).toEqual([]);
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.values)).toEqual([1, 2, 4]);
      expect(seen.completed).toBe(true);
    });
  });

  // some of them have a page on its way when the minute is over after which the end is asked for again
  it.each([300, 400, 500, 600, 700, 800])(
    'a bounded feed that never asks again outlives an untold end: %i',
    (latencyMs) => {
      marbles(({ flush }) => {
        const { ledger, feed } = world({ latencyMs, hasLedgerEnd: false });
        fill(ledger, 1);
        const seen = observe(feed({ endInclusive: 2 }, { idleTimeoutMs: 400, retry: { giveUpAfterMs: 0 } }));
        timer(200_000).subscribe(() => {
          fill(ledger, 2);
        });
        flush();
        expect(seen.error).toBeUndefined();
        expect(offsets(seen.values)).toEqual([1, 2]);
        expect(seen.completed).toBe(true);
      });
    },
  );
});
