import { describe, expect, it } from '@jest/globals';
import { concatMap, map, takeUntil, timer, type Observable } from 'rxjs';
import type { Diagnostic } from '../../../src/diagnostics/Diagnostic.js';
import { marbles } from '../../helpers/marbles.js';
import { observe, offsets } from '../../helpers/observe.js';
import { createLedger } from '../../../src/ledger/createLedger.js';
import {
  canton,
  failed,
  notFound,
  ok,
  scripted,
  type Asked,
  type Reply,
  type Scripted,
} from '../../helpers/scripted.js';
import { VirtualLedger } from '../../helpers/virtualLedger.js';
import { fill, updateFormat, upTo, world } from '../../helpers/world.js';

const isEnd = (path: string): boolean => path.endsWith('ledger-end');
const beyondEnd = failed(400, canton('OFFSET_AFTER_LEDGER_END', 12));
const isPage = (path: string): boolean => path.startsWith('/v2/updates');

describe('what the campaign has found', () => {
  it('an event tells of no update beyond the bound, which is not emitted', () => {
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

  // it asks for the end itself, or another feed of the ledger has found out that nobody tells it
  it.each([false, true])(
    'ranges that nobody has told to be there are not read ahead, time and again: %p',
    (isOther) => {
      marbles(({ flush }) => {
        let isUntold = false;
        const { ledger, service, feed } = world({
          latencyMs: 5,
          fault: ({ path }) => (isEnd(path) && isUntold ? notFound : undefined),
        });
        fill(ledger, ...upTo(30));
        const options = { maxPageSize: 10, parallelRanges: 16 };
        const seen = observe(feed({ endInclusive: 100_000 }, options).pipe(takeUntil(timer(50_000))));
        let before = 0;
        // in the middle of a poll
        timer(7_000).subscribe(() => {
          isUntold = true;
          before = service.asked.length;
          if (isOther) observe(feed({ beginExclusive: 30 }).pipe(takeUntil(timer(10))));
        });
        flush();
        expect(offsets(seen.values)).toEqual(upTo(30));
        const bounds = service.asked.slice(before).flatMap(({ body }) => body['endInclusive'] ?? []);
        expect(bounds.length).toBeGreaterThan(3);
        expect(new Set(bounds)).toEqual(new Set([100_000]));
      });
    },
  );

  /** Ranges ahead take a second each, so that they are on the way when the first is answered. */
  const slowAhead = (ledger: VirtualLedger, asked: Asked, isSlow: boolean): Observable<Reply> =>
    timer(isSlow ? 1_000 : 0).pipe(concatMap(() => ledger.answer(asked)));

  it('nothing is left open of what lies ahead of an end that is not reached', () => {
    marbles(({ flush }) => {
      let most = 0;
      const ledger = new VirtualLedger({ latencyMs: 5 });
      fill(ledger, ...upTo(400));
      const service: Scripted = scripted((asked, n) => {
        most = Math.max(most, service.open);
        // the fifth is the first page behind those that are read ahead: from a replica that is behind
        if (isPage(asked.path) && asked.body['beginExclusive'] === 40 && n < 20)
          return timer(30).pipe(map(() => beyondEnd));
        if (isEnd(asked.path) && n > 1 && n < 20) return timer(5).pipe(map(() => ok({ offset: 350 })));
        return slowAhead(ledger, asked, Number(asked.body['beginExclusive']) > 40 && n < 20);
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

  it('nothing is left open of what lies ahead of a gap', () => {
    marbles(({ flush }) => {
      let open = -1;
      const ledger = new VirtualLedger({ latencyMs: 5 });
      fill(ledger, ...upTo(400));
      const service: Scripted = scripted((asked) => {
        const begin = Number(asked.body['beginExclusive']);
        if (begin === 40)
          return timer(30).pipe(
            concatMap(() => {
              ledger.pruned = 300;
              return ledger.answer(asked);
            }),
          );
        return slowAhead(ledger, asked, begin > 40 && begin < 300);
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

  it('an offset is a whole number, however little has been found', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({ latencyMs: 5 });
      const seen = observe(feed({}, { parallelRanges: 3 }).pipe(takeUntil(timer(100_000))));
      for (const [i, end] of [7, 10, 1_000, 3_000].entries())
        timer(20_000 * i).subscribe(() => {
          ledger.end = end;
        });
      flush();
      expect(seen.values).toEqual([]);
      expect(service.asked.at(-1)?.body['beginExclusive']).toBe(3_000);
      const bounds = service.asked.flatMap(({ body }) => ('endInclusive' in body ? [body['endInclusive']] : []));
      expect(bounds.filter((offset) => !Number.isSafeInteger(offset))).toEqual([]);
    });
  });
});
