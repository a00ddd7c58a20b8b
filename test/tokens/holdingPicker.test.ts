import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Contract } from '../../src/contracts/index.js';
import { compareDecimals, holdingPicker, type HoldingView, totalOf } from '../../src/tokens/index.js';
import { effort } from '../helpers/effort.js';

type HoldingContract = Contract<string, HoldingView>;

const gold = { admin: 'bank', id: 'Gold' };
const lock = { holders: ['bank'], expiresAt: null, expiresAfter: null, context: null };
const holding = (contractId: string, amount: string, fields: object = {}): HoldingContract =>
  ({
    _tag: 'Contract',
    contractId,
    payload: { owner: 'alice', instrumentId: gold, amount, lock: null, ...fields },
  }) as never;
/** The inputs in the order of their amounts, without the least one. */
const withoutLeast = (inputs: readonly HoldingContract[]): readonly HoldingContract[] =>
  inputs.toSorted((one, other) => compareDecimals(other.payload.amount, one.payload.amount)).slice(0, -1);

const wanted = (amount: string) => ({ owner: 'alice', instrumentId: gold, amount });

describe('a picker of holdings', () => {
  it('picks the smallest that is enough, or else the largest', () => {
    const all = ['1.0', '7.0', '3.0', '9.5', '3.00'].map((amount, n) => holding(`h${n}`, amount));
    const pick = (amount: string): unknown => holdingPicker().pick(all, wanted(amount), 'a');
    expect(pick('0.5')).toEqual(['h0']);
    expect(pick('3.5')).toEqual(['h1']);
    expect(pick('9.5')).toEqual(['h3']);
    expect(pick('9.6')).toEqual(['h3', 'h1']);
    expect(pick('23.5')).toHaveLength(5);
    expect(pick('23.6')).toBeUndefined();
    expect(holdingPicker({ maxInputs: 2 }).pick(all, wanted('17.0'), 'a')).toBeUndefined();
    expect(() => holdingPicker({ maxInputs: 0 })).toThrow(TypeError);
  });

  it('leaves what is locked, of others, or of another instrument', () => {
    const others = [{ lock }, { owner: 'bob' }, { instrumentId: { admin: 'other', id: 'Gold' } }];
    const all = others.map((fields, n) => holding(`h${n}`, '5.0', fields));
    const undecoded = { _tag: 'UndecodedContract', contractId: 'u' } as never;
    expect(holdingPicker().pick([...all, undecoded], wanted('1.0'), 'a')).toBeUndefined();
  });

  it('counts a holding once that two views have', () => {
    const all = [holding('h0', '3.0'), holding('h1', '3.0'), holding('h0', '3.0')];
    expect(holdingPicker().pick(all, wanted('6.0'), 'a')).toEqual(['h0', 'h1']);
    expect(holdingPicker().pick(all, wanted('9.0'), 'a')).toBeUndefined();
  });

  it('gives no holding to two requests, until it is archived, released, or asked for again', () => {
    const picker = holdingPicker();
    const all = [holding('h0', '5.0'), holding('h1', '6.0')];
    expect(picker.pick(all, wanted('5.0'), 'a')).toEqual(['h0']);
    expect(picker.pick(all, wanted('5.0'), 'b')).toEqual(['h1']);
    expect(picker.pick(all, wanted('5.0'), 'c')).toBeUndefined();
    // again, for more
    expect(picker.pick(all, wanted('5.5'), 'a')).toBeUndefined();
    expect(picker.pick(all, wanted('5.0'), 'c')).toEqual(['h0']);
    picker.release('b');
    expect(picker.pick(all, wanted('6.0'), 'd')).toEqual(['h1']);
    // h1 is archived, and the view has its change
    expect(picker.pick([holding('h2', '1.0')], wanted('1.0'), 'e')).toEqual(['h2']);
  });

  it('picks enough, with nothing that is left over, and never twice', () => {
    const amounts = fc.array(fc.integer({ min: 1, max: 500 }), { maxLength: 12 });
    fc.assert(
      fc.property(amounts, amounts, (sizes, requests) => {
        const picker = holdingPicker();
        const all = sizes.map((size, n) => holding(`h${n}`, `${size / 10}`));
        const taken = new Set<string>();
        requests.forEach((size, n) => {
          const amount = `${size / 10}`;
          const picked = picker.pick(all, wanted(amount), `r${n}`);
          const free = all.filter(({ contractId }) => !taken.has(contractId));
          const sum = (some: readonly HoldingContract[]): string =>
            totalOf(
              gold,
              some.map(({ payload }) => payload),
            );
          expect(picked !== undefined).toBe(compareDecimals(sum(free), amount) >= 0);
          if (picked === undefined) return;
          const inputs = all.filter(({ contractId }) => picked.includes(contractId));
          expect(picked.some((id) => taken.has(id))).toBe(false);
          expect(compareDecimals(sum(inputs), amount)).toBeGreaterThanOrEqual(0);
          expect(compareDecimals(sum(withoutLeast(inputs)), amount)).toBeLessThan(0);
          for (const id of picked) taken.add(id);
        });
      }),
      { numRuns: effort(200, 10_000) },
    );
  });
});
