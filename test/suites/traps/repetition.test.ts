/** Traps that clients of this ledger fell into: the same again and again, requests in a loop, cursors that stay behind. */
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, takeUntil, timer } from 'rxjs';
import { ofVariant } from '../../../src/operators/ofVariant.js';
import { marbles } from '../../helpers/marbles.js';
import { observe, offsets } from '../../helpers/observe.js';
import { canton, failed, ok, type Asked, type Reply } from '../../helpers/scripted.js';
import { fill, upTo, world } from '../../helpers/world.js';
import { checkpoint } from '../../helpers/wire.js';

afterEach(() => {
  jest.restoreAllMocks();
});

const isPage = ({ path }: Asked): boolean => path.startsWith('/v2/updates');
const isPoll = ({ query }: Asked): boolean => 'stream_idle_timeout_ms' in query;
const beginOf = ({ body }: Asked): number => Number(body['beginExclusive']);
const down = failed(503, canton('SERVICE_NOT_RUNNING', 1));

describe('a feed that was cut', () => {
  it('goes on behind the last update, not where it began', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({ latencyMs: 5 });
      fill(ledger, 10, 20, 30);
      const seen = observe(feed().pipe(takeUntil(timer(30_000))));
      timer(2_000).subscribe(() => {
        ledger.cut();
        fill(ledger, 40, 50, 60);
      });
      flush();
      expect(offsets(seen.values)).toEqual([10, 20, 30, 40, 50, 60]);
      expect(service.asked.filter(isPage).map(beginOf).slice(1, 3)).toEqual([30, 30]);
    });
  });

  it('outlives an outage of four minutes', () => {
    marbles(({ flush }) => {
      const start = asyncScheduler.now();
      const { ledger, feed } = world({
        fault: () => (asyncScheduler.now() - start < 240_000 ? new Error('connect ECONNREFUSED') : undefined),
      });
      fill(ledger, 10);
      const seen = observe(feed().pipe(takeUntil(timer(400_000))));
      flush();
      expect(seen).toMatchObject({ error: undefined, values: [{ offset: 10 }] });
    });
  });
});

describe('the time after which a feed gives up', () => {
  it.each<[string, Reply]>([
    ['a connection that opens', { status: 200, headers: {}, text: '' }],
    ['its first bytes', { status: 200, headers: {}, text: '[{"update":{"Trans' }],
  ])('is not renewed by %s', (_, reply) => {
    marbles(({ flush }) => {
      // the ledger end is told all the time
      const { ledger, feed } = world({ latencyMs: 5, fault: (asked) => (isPage(asked) ? reply : undefined) });
      fill(ledger, 10);
      const seen = observe(
        feed({}, { retry: { giveUpAfterMs: 10_000, maxDelayMs: 500 } }).pipe(takeUntil(timer(600_000))),
      );
      flush();
      expect(seen.error).toMatchObject({ _tag: 'ConnectionError' });
      expect(seen.endedAt).toBeLessThan(11_000);
    });
  });
});

describe('a failure', () => {
  it.each([
    ['PARTICIPANT_PRUNED_DATA_ACCESSED', 9],
    ['PERMISSION_DENIED', 7],
    ['INVALID_ARGUMENT', 8],
  ])('that lasts is asked for once, and nothing of it is an update: %s', (code, category) => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({
        fault: (asked) => (isPage(asked) ? failed(400, canton(code, category)) : undefined),
      });
      fill(ledger, 10);
      const seen = observe(feed().pipe(takeUntil(timer(600_000))));
      flush();
      expect(seen.values).toEqual([]);
      expect(seen.error).toBeDefined();
      expect(service.asked.filter(isPage)).toHaveLength(1);
    });
  });

  it('is waited for longer each time, and not as long as any other', () => {
    jest.spyOn(Math, 'random').mockReturnValue(1);
    marbles(({ flush }) => {
      const at: number[] = [];
      const start = asyncScheduler.now();
      const { feed } = world({
        fault: (_, n) => {
          at.push(asyncScheduler.now() - start);
          return n === 4 ? failed(429, '', { 'retry-after': '9' }) : down;
        },
      });
      observe(feed().pipe(takeUntil(timer(12_000))));
      flush();
      expect(at).toEqual([0, 250, 750, 1_750, 10_750]);
    });
  });
});

describe('the cursor', () => {
  it('moves with a page that has a checkpoint alone, for a retry and for who resumes', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world();
      const seen = observe(feed().pipe(takeUntil(timer(10_000))));
      timer(1_000).subscribe(() => {
        ledger.append(700, checkpoint(700));
      });
      timer(2_000).subscribe(() => {
        ledger.cut();
      });
      flush();
      expect(service.asked.filter(isPage).map(beginOf).slice(0, 3)).toEqual([0, 700, 700]);
      expect(offsets(seen.values)).toEqual([700]);
    });
  });

  it('does not go through empty offsets one by one: a thousand cost two requests', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world();
      ledger.end = 1_000;
      const open = observe(feed().pipe(takeUntil(timer(900))));
      flush();
      // the ledger end, a page, and the poll that waits
      expect(service.asked.map(beginOf).slice(1)).toEqual([0, 1_000]);
      const bounded = observe(feed({ endInclusive: 1_000 }));
      flush();
      expect(service.asked).toHaveLength(5);
      expect([open.error, bounded.error]).toEqual([undefined, undefined]);
    });
  });

  it('does not go through empty offsets one by one where the ledger end is not told either', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world({ hasLedgerEnd: false });
      ledger.end = 1_000;
      const bounded = observe(feed({ endInclusive: 1_000 }));
      flush();
      expect(bounded.completed).toBe(true);
      expect(service.asked).toHaveLength(2);
    });
  });

  it('begins where it is told and never at the begin of a ledger that is pruned', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world();
      fill(ledger, ...upTo(20));
      ledger.pruned = 10;
      const seen = observe(feed({ beginExclusive: 12 }).pipe(takeUntil(timer(100))));
      flush();
      expect(offsets(seen.values)).toEqual(upTo(20).slice(12));
      expect(Math.min(...service.asked.filter(isPage).map(beginOf))).toBe(12);
    });
  });

  it('is not held back by a filter downstream', () => {
    marbles(({ flush }) => {
      const { ledger, service, feed } = world();
      fill(ledger, ...upTo(500));
      const seen = observe(feed().pipe(ofVariant('Reassignment'), takeUntil(timer(2_000))));
      timer(1_000).subscribe(() => {
        ledger.cut();
      });
      flush();
      expect(seen.values).toEqual([]);
      expect(service.asked.filter(isPage).map(beginOf)).toEqual([0, 200, 400, 500, 500]);
    });
  });

  it('moves when the subscriber has had the updates, not before', () => {
    marbles(({ flush }) => {
      const had: number[] = [];
      const before: (readonly number[])[] = [];
      const { ledger, feed } = world({
        fault: (asked) => {
          if (isPage(asked)) before.push([...had]);
          return undefined;
        },
      });
      fill(ledger, ...upTo(5));
      feed({ endInclusive: 5 }, { maxPageSize: 2 }).subscribe(({ offset }) => had.push(offset));
      flush();
      expect(before).toEqual([[], [1, 2], [1, 2, 3, 4]]);
    });
  });
});

describe('polls', () => {
  it('never overlap, however long an answer takes', () => {
    marbles(({ flush }) => {
      let most = 0;
      const { ledger, service, feed } = world({
        latencyMs: 9_000,
        fault: () => {
          most = Math.max(most, service.open);
          return undefined;
        },
      });
      fill(ledger, ...upTo(500));
      observe(feed({}, { parallelRanges: 1 }).pipe(takeUntil(timer(300_000))));
      flush();
      expect(service.asked.length).toBeGreaterThan(10);
      expect(most).toBe(1);
    });
  });

  it('that are answered at once with nothing are no loop', () => {
    marbles(({ flush }) => {
      const { service, feed } = world({ fault: (asked) => (isPoll(asked) ? ok([]) : undefined) });
      observe(feed().pipe(takeUntil(timer(100_000))));
      flush();
      expect(service.asked.length).toBeGreaterThan(50);
      expect(service.asked.length).toBeLessThan(120);
    });
  });
});
