import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { EMPTY, NEVER, of, takeUntil, throwError, timer } from 'rxjs';
import type { Gap } from '../../src/feed/UpdatesOptions.js';
import { marbles } from '../helpers/marbles.js';
import { observe, offsets } from '../helpers/observe.js';
import { canton, failed, type Asked } from '../helpers/scripted.js';
import { fill, upTo, world, type World } from '../helpers/world.js';

beforeEach(() => {
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** A ledger of 100 updates that is pruned up to an offset, from a virtual time on. */
function pruned(upTo_: number, fromMs = 0): World {
  let isPruned = fromMs === 0;
  if (!isPruned)
    timer(fromMs).subscribe(() => {
      isPruned = true;
    });
  const isBelow = ({ body }: Asked): boolean => Number(body['beginExclusive']) < upTo_;
  const given = world({
    latencyMs: 5,
    fault: (asked) =>
      isPruned && asked.path.startsWith('/v2/updates') && isBelow(asked)
        ? failed(400, canton('PARTICIPANT_PRUNED_DATA_ACCESSED', 9, { earliest_offset: String(upTo_) }))
        : undefined,
  });
  fill(given.ledger, ...upTo(100));
  return given;
}

describe('a gap', () => {
  it('is crossed to where the caller says, and what comes from there on is complete', () => {
    marbles(({ flush }) => {
      const gaps: Gap[] = [];
      const onGap = (gap: Gap): Promise<number> | number[] => {
        gaps.push(gap);
        return [gap.error._tag === 'PrunedError' ? (gap.error.earliestOffset ?? 0) : 0];
      };
      const { feed } = pruned(40);
      const seen = observe(feed({ beginExclusive: 7 }, { onGap }).pipe(takeUntil(timer(10_000))));
      flush();
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.values)).toEqual(upTo(100).slice(40));
      expect(gaps).toMatchObject([{ cursor: 7, error: { _tag: 'PrunedError', earliestOffset: 40 } }]);
    });
  });

  it('is crossed in mid-stream, when pruning overtakes a slow reader', () => {
    marbles(({ flush }) => {
      const { feed } = pruned(60, 12);
      const seen = observe(feed({}, { maxPageSize: 10, onGap: () => of(60) }).pipe(takeUntil(timer(10_000))));
      flush();
      expect(seen.error).toBeUndefined();
      const all = offsets(seen.values);
      expect(all.slice(0, 10)).toEqual(upTo(10));
      expect(all.slice(-40)).toEqual(upTo(100).slice(60));
      expect(new Set(all).size).toBe(all.length);
    });
  });

  it('of a ledger that was reset is crossed after the grace, backwards', () => {
    marbles(({ flush }) => {
      const { ledger, feed } = world({ latencyMs: 5 });
      fill(ledger, ...upTo(20));
      const seen = observe(
        feed({ beginExclusive: 500 }, { onGap: ({ cursor }) => [cursor - 490] }).pipe(takeUntil(timer(60_000))),
      );
      flush();
      expect(seen.error).toBeUndefined();
      expect(offsets(seen.values)).toEqual(upTo(20).slice(10));
      expect(seen.times[0]).toBeGreaterThan(9_000);
      expect(seen.times[0]).toBeLessThan(11_000);
    });
  });

  it('of a descending feed is crossed from below', () => {
    marbles(({ flush }) => {
      const { feed } = pruned(40);
      const range = { beginExclusive: 0, endInclusive: 90, descendingOrder: true } as const;
      const seen = observe(feed(range, { maxPageSize: 7, onGap: () => [40] }));
      flush();
      expect(seen.error).toBeUndefined();
      expect(seen.completed).toBe(true);
      expect(offsets(seen.values)).toEqual(upTo(90).slice(40).reverse());
    });
  });

  it('that reaches beyond the end of a bounded feed completes it', () => {
    marbles(({ flush }) => {
      const { feed, service } = pruned(40);
      const seen = observe(feed({ beginExclusive: 5, endInclusive: 30 }, { onGap: () => [40] }));
      flush();
      expect(seen).toMatchObject({ values: [], error: undefined, completed: true });
      expect(service.open).toBe(0);
    });
  });

  it('ends the feed with its error where the caller does not say', () => {
    marbles(({ flush }) => {
      const seen = observe(pruned(40).feed({}, { onGap: () => EMPTY }));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'PrunedError', earliestOffset: 40 });
    });
  });

  it.each([0, 7])('ends the feed with its error where the choice, %i, leads nowhere: no hot loop', (offset) => {
    marbles(({ flush }) => {
      const { feed, service } = pruned(40);
      const seen = observe(feed({ beginExclusive: 7 }, { onGap: () => [offset] }));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'PrunedError', earliestOffset: 40 });
      expect(service.asked.length).toBeLessThan(4);
    });
  });

  it.each([500, 600])('of a ledger that was reset ends the feed where the choice, %i, is no way back', (offset) => {
    marbles(({ flush }) => {
      const { ledger, feed } = world({ latencyMs: 5 });
      fill(ledger, ...upTo(20));
      const asked: number[] = [];
      const seen = observe(
        feed(
          { beginExclusive: 500 },
          {
            onGap: ({ cursor }) => {
              asked.push(cursor);
              return [offset];
            },
          },
        ),
      );
      flush();
      expect(seen.error).toMatchObject({ _tag: 'LedgerResetError', ledgerEnd: 20 });
      expect(asked).toEqual([500]);
    });
  });

  it.each([-1, 1.5, Number.NaN, '40'])('takes nothing for an offset that is none: %p', (choice) => {
    marbles(({ flush }) => {
      // @ts-expect-error -- as it happens in JavaScript
      const seen = observe(pruned(40).feed({}, { onGap: () => [choice] }));
      flush();
      expect(seen.error).toBeInstanceOf(TypeError);
    });
  });

  it("passes the caller's own error on, and the gap is told all the same", () => {
    marbles(({ flush }) => {
      const mine = new Error('no active contracts');
      const { feed, client } = pruned(40);
      const told = observe(client.diagnostics$);
      const seen = observe(feed({}, { onGap: () => throwError(() => mine) }));
      const thrown = observe(
        pruned(40).feed(
          {},
          {
            onGap: () => {
              throw mine;
            },
          },
        ),
      );
      flush();
      expect(seen.error).toBe(mine);
      expect(thrown.error).toBe(mine);
      expect(told.values.slice(-2)).toMatchObject([
        { _tag: 'GapFound', cursor: 0 },
        { _tag: 'FeedEnded', how: 'failed' },
      ]);
    });
  });

  it('leaves nothing behind when it is unsubscribed while the caller decides', () => {
    marbles(({ flush, cold, expectSubscriptions }) => {
      const decision = cold<never>('-');
      const { feed, service } = pruned(40);
      observe(feed({}, { onGap: () => decision }).pipe(takeUntil(timer(100))));
      observe(
        pruned(40)
          .feed({}, { onGap: () => NEVER })
          .pipe(takeUntil(timer(100))),
      );
      flush();
      expect(service.open).toBe(0);
      expectSubscriptions(decision.subscriptions).toBe('5ms ^ 94ms !');
    });
  });
});
