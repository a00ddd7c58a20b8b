import { describe, expect, it } from '@jest/globals';
import { takeUntil, timer } from 'rxjs';
import type { Diagnostic } from '../../../src/diagnostics/Diagnostic.js';
import { observe, offsets } from '../../helpers/observe.js';
import { fill, upTo, world } from '../../helpers/world.js';
import { marbles } from '../../helpers/time.js';
import { errorReply, notFound, ok } from '../../helpers/wire.js';

const isEnd = (path: string): boolean => path.endsWith('ledger-end');

describe('bugs that the campaign found', () => {
  it('a diagnostic of a page reports no update after the bound, which is not emitted', () => {
    marbles(({ flush }) => {
      const { ledger, client, feed } = world({ latencyMs: 5 });
      const events: Diagnostic[] = [];
      client.diagnostics$.subscribe((event) => events.push(event));
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

  it('a reset between two pages is reported after one grace period, not after one for each request', () => {
    marbles(({ flush }) => {
      const { ledger, feed } = world({ latencyMs: 5 });
      fill(ledger, ...upTo(10));
      const seen = observe(feed({}, { maxPageSize: 2 }));
      // 10 ms for the ledger end, and then 5 ms for each page of two
      timer(12).subscribe(() => {
        ledger.restore(0);
      });
      flush();
      expect(seen.error).toMatchObject({ _tag: 'LedgerResetError', ledgerEnd: 0 });
      expect(seen.endedAt).toBeGreaterThan(10_000);
      expect(seen.endedAt).toBeLessThan(15_000);
    });
  });

  it('the retry budget is not renewed each time that a page after the ledger end is requested', () => {
    marbles(({ flush }) => {
      const { ledger, feed } = world({
        latencyMs: 5,
        // the end of the first replica is never reached, and no replica reports another
        fault: ({ path }, n) => {
          if (isEnd(path)) return n === 1 ? ok({ offset: 100 }) : errorReply(503, 'down');
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

  // with some latencies a page is open at the end of the minute after which the feed requests the end again
  it.each([300, 400, 500, 600, 700, 800])(
    'a bounded feed without retries survives a service without a ledger end: %i',
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

  // this feed or another one of the ledger finds out that the service does not serve its end
  it.each([false, true])('ranges after an unknown end are not read ahead repeatedly: %p', (isOther) => {
    marbles(({ flush }) => {
      let isEndHidden = false;
      const { ledger, service, feed } = world({
        latencyMs: 5,
        fault: ({ path }) => (isEnd(path) && isEndHidden ? notFound : undefined),
      });
      fill(ledger, ...upTo(30));
      const options = { maxPageSize: 10, parallelRanges: 16 };
      const seen = observe(feed({ endInclusive: 100_000 }, options).pipe(takeUntil(timer(50_000))));
      let before = 0;
      // in the middle of a poll
      timer(7_000).subscribe(() => {
        isEndHidden = true;
        before = service.requests.length;
        if (isOther) observe(feed({ beginExclusive: 30 }).pipe(takeUntil(timer(10))));
      });
      flush();
      expect(offsets(seen.values)).toEqual(upTo(30));
      // without the proof after the outage, which is up to the cursor
      const bounds = service.requests
        .slice(before)
        .flatMap(({ body }) => body['endInclusive'] ?? [])
        .filter((bound) => bound !== 30);
      expect(bounds.length).toBeGreaterThan(3);
      expect(new Set(bounds)).toEqual(new Set([100_000]));
    });
  });
});
