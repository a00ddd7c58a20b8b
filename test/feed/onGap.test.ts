import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { EMPTY, NEVER, of, takeUntil, throwError, timer } from 'rxjs';
import type { Gap } from '../../src/feed/LedgerFeed.js';
import { observe, offsets } from '../helpers/observe.js';
import type { ServiceRequest } from '../helpers/scripted.js';
import { fill, upTo, world, type World } from '../helpers/world.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';
import { errorBody, errorReply } from '../helpers/wire.js';

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
  const isBelow = ({ body }: ServiceRequest): boolean => Number(body['beginExclusive']) < upTo_;
  const given = world({
    latencyMs: 5,
    fault: (request) =>
      isPruned && request.path.startsWith('/v2/updates') && isBelow(request)
        ? errorReply(400, errorBody('PARTICIPANT_PRUNED_DATA_ACCESSED', 9, { earliest_offset: String(upTo_) }))
        : undefined,
  });
  fill(given.ledger, ...upTo(100));
  return given;
}

describe('a gap', () => {
  itInVirtualTime(
    'is skipped to the offset of the caller, and the feed is complete from there on (G17)',
    ({ flush }) => {
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
    },
  );

  itInVirtualTime('is skipped in mid-stream, when pruning overtakes a slow subscriber', ({ flush }) => {
    const { feed } = pruned(60, 12);
    const seen = observe(feed({}, { maxPageSize: 10, onGap: () => of(60) }).pipe(takeUntil(timer(10_000))));
    flush();
    expect(seen.error).toBeUndefined();
    const all = offsets(seen.values);
    expect(all.slice(0, 10)).toEqual(upTo(10));
    expect(all.slice(-40)).toEqual(upTo(100).slice(60));
    expect(new Set(all).size).toBe(all.length);
  });

  itInVirtualTime('of a ledger that was reset is skipped backwards after the grace period (G18)', ({ flush }) => {
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

  itInVirtualTime('of a descending feed ends the range from below', ({ flush }) => {
    const { feed } = pruned(40);
    const range = { beginExclusive: 0, endInclusive: 90, descendingOrder: true } as const;
    const seen = observe(feed(range, { maxPageSize: 7, onGap: () => [40] }));
    flush();
    expect(seen.error).toBeUndefined();
    expect(seen.completed).toBe(true);
    expect(offsets(seen.values)).toEqual(upTo(90).slice(40).reverse());
  });

  itInVirtualTime('up to the end of a bounded feed completes it', ({ flush }) => {
    const { feed, service } = pruned(40);
    const seen = observe(feed({ beginExclusive: 5, endInclusive: 30 }, { onGap: () => [40] }));
    flush();
    expect(seen).toMatchObject({ values: [], error: undefined, completed: true });
    expect(service.open).toBe(0);
  });

  itInVirtualTime('ends the feed with its error if the caller returns no offset', ({ flush }) => {
    const seen = observe(pruned(40).feed({}, { onGap: () => EMPTY }));
    flush();
    expect(seen.error).toMatchObject({ _tag: 'PrunedError', earliestOffset: 40 });
  });

  it.each([0, 7])('ends the feed with its error if the offset %i would find the same gap', (offset) => {
    marbles(({ flush }) => {
      const { feed, service } = pruned(40);
      const seen = observe(feed({ beginExclusive: 7 }, { onGap: () => [offset] }));
      flush();
      expect(seen.error).toMatchObject({ _tag: 'PrunedError', earliestOffset: 40 });
      expect(service.requests.length).toBeLessThan(4);
    });
  });

  it.each([500, 600])(
    'of a ledger that was reset ends the feed if the offset %i is not before the cursor',
    (offset) => {
      marbles(({ flush }) => {
        const { ledger, feed } = world({ latencyMs: 5 });
        fill(ledger, ...upTo(20));
        const cursors: number[] = [];
        const seen = observe(
          feed(
            { beginExclusive: 500 },
            {
              onGap: ({ cursor }) => {
                cursors.push(cursor);
                return [offset];
              },
            },
          ),
        );
        flush();
        expect(seen.error).toMatchObject({ _tag: 'LedgerResetError', ledgerEnd: 20 });
        expect(cursors).toEqual([500]);
      });
    },
  );

  it.each([-1, 1.5, Number.NaN, '40'])('refuses an invalid offset: %p', (choice) => {
    marbles(({ flush }) => {
      // @ts-expect-error -- as in JavaScript
      const seen = observe(pruned(40).feed({}, { onGap: () => [choice] }));
      flush();
      expect(seen.error).toBeInstanceOf(TypeError);
    });
  });

  itInVirtualTime("ends the feed with the caller's own error, and is still reported", ({ flush }) => {
    const mine = new Error('no active contracts');
    const { feed, client } = pruned(40);
    const diagnostics = observe(client.diagnostics$);
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
    expect(diagnostics.values.slice(-2)).toMatchObject([
      { _tag: 'GapFound', cursor: 0 },
      { _tag: 'FeedEnded', how: 'failed' },
    ]);
  });

  itInVirtualTime(
    'leaves nothing open when the feed is unsubscribed from while the caller decides',
    ({ flush, cold, expectSubscriptions }) => {
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
    },
  );
});
