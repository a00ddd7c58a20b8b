import { describe, expect, it } from '@jest/globals';
import { acsDelta, type UpdateFormat } from '../../../src/codecs/UpdateFormat.js';
import { LedgerResetError } from '../../../src/errors/feed.js';
import { planBackfill } from '../../../src/process/backfill/planBackfill.js';
import { compareUpdates } from '../../../src/process/backfill/UpdatesPosition.js';

const of = (...names: readonly string[]): UpdateFormat =>
  acsDelta({ parties: names.map((name) => `${name}::1220ab`), topology: false });
const seen = (names: string, until?: number, more: object = {}) => ({
  ...{ updateFormat: of(...Array.from(names)), after: 0, ...(until !== undefined && { until }) },
  ...more,
});

describe('the past of a request that was changed', () => {
  it('is read for what was added, and the cursor keeps the selections that had something else', () => {
    const plan = planBackfill([seen('ab')], seen('bc'), 9);
    expect(plan.backfill).toMatchObject({ added: of('c'), own: { until: 0 }, others: [{ until: 9 }] });
    expect(plan.seen).toEqual([seen('ab', 9), seen('bc')]);
    expect(planBackfill(plan.seen, seen('abc'), 20).seen).toEqual([seen('abc')]);
  });

  it('is nothing of a request that was narrowed, of one that is the same, and before the first update', () => {
    const narrowed = planBackfill([seen('ab')], seen('a'), 9);
    expect(narrowed.backfill).toBeUndefined();
    expect(narrowed.seen).toEqual([seen('ab', 9), seen('a')]);
    const same = [seen('ab', 5), seen('a')];
    expect(planBackfill(same, seen('a'), 9)).toEqual({ seen: same, withProof: same });
    expect(planBackfill([seen('a')], seen('ab'), 0).backfill).toBeUndefined();
  });

  it('is not read if what was handled is at other offsets by now', () => {
    const moved = [seen('ab', 9, { isMoved: true }), seen('a')];
    expect(() => planBackfill(moved, seen('ab'), 20)).toThrow(LedgerResetError);
    expect(planBackfill(moved, seen('a'), 20).seen).toEqual(moved);
  });

  it.each([
    ['the later selection, of the same update', 7, 7, 1],
    ['an earlier selection, of a later update', 7, 4, 0],
    ['a later selection, of a later update', 4, 7, 1],
  ])('keeps %s, until an update of this selection is read', (_, first, second, kept) => {
    const read = (offset: number) => ({ lastUpdate: { offset, updateId: `1220${offset}` } });
    const ended = [seen('a', 7, read(first)), seen('a', 9, read(second)), seen('b', 9)];
    const { seen: known, withProof } = planBackfill(ended, seen('ab'), 9);
    expect(known).toEqual([seen('ab')]);
    expect(withProof).toEqual([ended[kept], seen('ab')]);
  });

  it('comes before everything after the cursor, and after a cursor that does not know it', () => {
    const at = (...selections: readonly ReturnType<typeof seen>[]) => ({
      offset: 9,
      recordTimes: {},
      seen: selections,
    });
    const inOrder = [
      { offset: 9, recordTimes: {} },
      at(seen('a', 9), seen('b', 2)),
      at(seen('a', 9), seen('b', 5)),
      at(seen('b')),
      { ...at(seen('b', 1)), offset: 10 },
    ];
    inOrder.forEach((position, n) => {
      inOrder.forEach((other, m) => {
        expect(Math.sign(compareUpdates(position, other))).toBe(Math.sign(n - m));
      });
    });
  });
});
