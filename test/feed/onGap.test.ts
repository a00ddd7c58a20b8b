import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { EMPTY, NEVER, of, takeUntil, throwError, timer } from 'rxjs';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import type { Gap } from '../../src/feed/LedgerFeed.js';
import { observe, offsets } from '../helpers/observe.js';
import { itInVirtualTime } from '../helpers/time.js';
import { upTo, world, type World } from '../helpers/world.js';
import { append, play } from './worlds.js';

beforeEach(() => {
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  jest.restoreAllMocks();
});

type Run = NonNullable<Parameters<typeof play>[1]>;
type OnGap = NonNullable<NonNullable<Run['options']>['onGap']>;

const prune =
  (offset: number) =>
  ({ ledger }: World): void => {
    ledger.pruned = offset;
  };

/** Runs a feed of a ledger of 100 updates that is pruned up to 40. */
const playPruned = (onGap: OnGap, { options, ...run }: Run = {}) =>
  play({}, { updates: upTo(100), at: { 0: prune(40) }, options: { ...options, onGap }, ...run });

/** Runs a feed from 500 of a ledger of 20 updates. */
const playReset = (onGap: OnGap, run: Run = {}) =>
  play({}, { updates: upTo(20), request: { beginExclusive: 500 }, options: { onGap }, ...run });

const pruned = { _tag: 'PrunedError', earliestOffset: 40 };

describe('a gap', () => {
  it('is skipped to the offset of the caller, and the feed is complete from there on (G17)', () => {
    const gaps: Gap[] = [];
    const onGap = (gap: Gap): number[] => {
      gaps.push(gap);
      return [gap.error._tag === 'PrunedError' ? (gap.error.earliestOffset ?? 0) : 0];
    };
    const { seen } = playPruned(onGap, { request: { beginExclusive: 7 }, forMs: 10_000 });
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual(upTo(100).slice(40));
    expect(gaps).toMatchObject([{ cursor: 7, error: pruned }]);
  });

  it('is skipped in mid-stream, when pruning overtakes a slow subscriber', () => {
    const { seen } = playPruned(() => of(60), {
      options: { maxPageSize: 10 },
      forMs: 10_000,
      at: { 12: prune(60) },
    });
    expect(seen.error).toBeUndefined();
    const all = offsets(seen.values);
    expect(all.slice(0, 10)).toEqual(upTo(10));
    expect(all.slice(-40)).toEqual(upTo(100).slice(60));
    expect(new Set(all).size).toBe(all.length);
  });

  it('of a ledger that was reset is skipped backwards when the retry budget is used up (G18)', () => {
    const { seen } = playReset(({ cursor }) => [cursor - 490], { forMs: 400_000 });
    expect(seen.error).toBeUndefined();
    expect(offsets(seen.values)).toEqual(upTo(20).slice(10));
    expect(seen.times[0]).toBeGreaterThan(250_000);
    expect(seen.times[0]).toBeLessThan(302_000);
  });

  it('of a descending feed ends the range from below', () => {
    const request = { beginExclusive: 0, endInclusive: 90, descendingOrder: true };
    const { seen } = playPruned(() => [40], { request, options: { maxPageSize: 7 } });
    expect(seen).toMatchObject({ error: undefined, completed: true });
    expect(offsets(seen.values)).toEqual(upTo(90).slice(40).reverse());
  });

  it('up to the end of a bounded feed completes it', () => {
    const { seen, service } = playPruned(() => [40], { request: { beginExclusive: 5, endInclusive: 30 } });
    expect(seen).toMatchObject({ values: [], error: undefined, completed: true });
    expect(service.open).toBe(0);
  });

  it.each<[string, OnGap]>([
    ['the caller returns no offset', () => EMPTY],
    ['the offset 0 would find the same gap', () => [0]],
    ['the offset 7 would find the same gap', () => [7]],
  ])('ends the feed with its error if %s', (_, onGap) => {
    const { seen, service } = playPruned(onGap, { request: { beginExclusive: 7 } });
    expect(seen.error).toMatchObject(pruned);
    expect(service.requests.length).toBeLessThan(4);
  });

  it.each([500, 600])(
    'of a ledger that was reset ends the feed if the offset %i is not before the cursor',
    (offset) => {
      const cursors: number[] = [];
      const { seen } = playReset(({ cursor }) => {
        cursors.push(cursor);
        return [offset];
      });
      expect(seen.error).toMatchObject({ _tag: 'LedgerResetError', ledgerEnd: 20 });
      expect(cursors).toEqual([500]);
    },
  );

  it.each([-1, 1.5, Number.NaN, '40'])('refuses an invalid offset: %p', (choice) => {
    // @ts-expect-error -- as in JavaScript
    expect(playPruned(() => [choice]).seen.error).toBeInstanceOf(TypeError);
  });

  const mine = new Error('no active contracts');
  it.each<[string, OnGap]>([
    ['emits', () => throwError(() => mine)],
    [
      'throws',
      () => {
        throw mine;
      },
    ],
  ])("ends the feed with the caller's own error, and is still reported: it %s", (_, onGap) => {
    const diagnostics: Diagnostic[] = [];
    expect(playPruned(onGap, { diagnostics }).seen.error).toBe(mine);
    expect(diagnostics.slice(-2)).toMatchObject([
      { _tag: 'GapFound', cursor: 0 },
      { _tag: 'FeedEnded', how: 'failed' },
    ]);
  });

  itInVirtualTime(
    'leaves nothing open when the feed is unsubscribed from while the caller decides',
    ({ flush, cold, expectSubscriptions }) => {
      const decision = cold<never>('-');
      const its = world({ latencyMs: 5 });
      append(...upTo(100))(its);
      prune(40)(its);
      for (const onGap of [() => decision, () => NEVER]) observe(its.feed({}, { onGap }).pipe(takeUntil(timer(100))));
      flush();
      expect(its.service.open).toBe(0);
      expectSubscriptions(decision.subscriptions).toBe('10ms ^ 89ms !');
    },
  );
});
