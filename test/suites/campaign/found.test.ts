import { describe, expect, it } from '@jest/globals';
import { concatMap, map, takeUntil, timer, type Observable } from 'rxjs';
import type { Diagnostic } from '../../../src/diagnostics/Diagnostic.js';
import { observe, offsets } from '../../helpers/observe.js';
import { createLedger } from '../../../src/ledger/createLedger.js';
import { scriptedService, type ServiceRequest, type Reply, type ScriptedService } from '../../helpers/scripted.js';
import { VirtualLedger } from '../../helpers/virtualLedger.js';
import { fill, updateFormat, upTo, world } from '../../helpers/world.js';
import { marbles } from '../../helpers/time.js';
import { errorBody, errorReply, notFound, ok } from '../../helpers/wire.js';

const isEnd = (path: string): boolean => path.endsWith('ledger-end');
const beyondEnd = errorReply(400, errorBody('OFFSET_AFTER_LEDGER_END', 12));
const isPage = (path: string): boolean => path.startsWith('/v2/updates');

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

  it('a bounded feed never uses a ledger end from before its cursor', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({
        latencyMs: 5,
        fault: ({ path }, n) => {
          // a replica that lags rejects the page, and the next one does not report its end
          if (n === 2) return errorReply(400, { code: 'OFFSET_AFTER_LEDGER_END', cause: '', errorCategory: 12 });
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
      const ranges = service.requests.filter(({ path, body }) => isPage(path) && 'endInclusive' in body);
      expect(ranges.filter(({ body }) => Number(body['endInclusive']) <= Number(body['beginExclusive']))).toEqual([]);
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.values)).toEqual([1, 2, 4]);
      expect(seen.completed).toBe(true);
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
      const bounds = service.requests.slice(before).flatMap(({ body }) => body['endInclusive'] ?? []);
      expect(bounds.length).toBeGreaterThan(3);
      expect(new Set(bounds)).toEqual(new Set([100_000]));
    });
  });

  /** Ranges ahead take a second each, so that they are open when the first is answered. */
  const slowAhead = (ledger: VirtualLedger, request: ServiceRequest, isSlow: boolean): Observable<Reply> =>
    timer(isSlow ? 1_000 : 0).pipe(concatMap(() => ledger.reply(request)));

  it('requests ahead of an end that is not reached are aborted', () => {
    marbles(({ flush }) => {
      let most = 0;
      const ledger = new VirtualLedger({ latencyMs: 5 });
      fill(ledger, ...upTo(400));
      const service: ScriptedService = scriptedService((request, n) => {
        most = Math.max(most, service.open);
        // the fifth request is the first page after those that are read ahead: a replica that lags answers it
        if (isPage(request.path) && request.body['beginExclusive'] === 40 && n < 20)
          return timer(30).pipe(map(() => beyondEnd));
        if (isEnd(request.path) && n > 1 && n < 20) return timer(5).pipe(map(() => ok({ offset: 350 })));
        return slowAhead(ledger, request, Number(request.body['beginExclusive']) > 40 && n < 20);
      });
      const client = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
      const options = { maxPageSize: 20, parallelRanges: 4 };
      const seen = observe(client.updates({ beginExclusive: 0, updateFormat }, options).pipe(takeUntil(timer(30_000))));
      flush();
      expect(offsets(seen.values)).toEqual(upTo(400));
      expect(most).toBe(4);
      expect(service.open).toBe(0);
    });
  });

  it('requests ahead of a gap are aborted', () => {
    marbles(({ flush }) => {
      let open = -1;
      const ledger = new VirtualLedger({ latencyMs: 5 });
      fill(ledger, ...upTo(400));
      const service: ScriptedService = scriptedService((request) => {
        const begin = Number(request.body['beginExclusive']);
        if (begin === 40)
          return timer(30).pipe(
            concatMap(() => {
              ledger.pruned = 300;
              return ledger.reply(request);
            }),
          );
        return slowAhead(ledger, request, begin > 40 && begin < 300);
      });
      const onGap = (): number[] => {
        open = service.open;
        return [300];
      };
      const client = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
      const options = { maxPageSize: 20, parallelRanges: 4, onGap };
      const seen = observe(client.updates({ beginExclusive: 0, updateFormat }, options).pipe(takeUntil(timer(30_000))));
      flush();
      expect(offsets(seen.values)).toEqual(upTo(400).filter((offset) => offset <= 40 || offset > 300));
      expect(open).toBe(0);
    });
  });

  it('every requested offset is an integer, no matter how few updates were found', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({ latencyMs: 5 });
      const seen = observe(feed({}, { parallelRanges: 3 }).pipe(takeUntil(timer(100_000))));
      for (const [i, end] of [7, 10, 1_000, 3_000].entries())
        timer(20_000 * i).subscribe(() => {
          ledger.end = end;
        });
      flush();
      expect(seen.values).toEqual([]);
      expect(service.requests.at(-1)?.body['beginExclusive']).toBe(3_000);
      const bounds = service.requests.flatMap(({ body }) => ('endInclusive' in body ? [body['endInclusive']] : []));
      expect(bounds.filter((offset) => !Number.isSafeInteger(offset))).toEqual([]);
    });
  });
});
