import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { of } from 'rxjs';
import {
  groupTotals,
  isSameInstrument,
  sumDecimals,
  type TokenAmount,
  totalOf,
  toTotals,
} from '../../src/tokens/index.js';
import { effort } from '../helpers/effort.js';

const amounts: fc.Arbitrary<readonly TokenAmount[]> = fc.array(
  fc.record({
    // admins and ids that could be confused if they were joined
    instrumentId: fc.record({
      admin: fc.constantFrom('a', 'a,', 'a","', 'b'),
      id: fc.constantFrom('x', ',x', '","x', ''),
    }),
    amount: fc.integer({ min: -1_000_000, max: 1_000_000 }).map((n) => `${n}.${Math.abs(n) % 1000}`),
  }),
  { maxLength: 40 },
);

describe('groupTotals', () => {
  it('adds each instrument apart from the others', () => {
    fc.assert(
      fc.property(amounts, (all) => {
        const totals = groupTotals(all);
        expect(totals.reduce((count, total) => count + total.count, 0)).toBe(all.length);
        for (const { instrumentId, amount, count } of totals) {
          const same = all.filter((each) => isSameInstrument(each.instrumentId, instrumentId));
          expect([amount, count]).toEqual([sumDecimals(same.map((each) => each.amount)), same.length]);
          expect(totalOf(instrumentId, all)).toBe(amount);
        }
        const names = totals.map(({ instrumentId: { admin, id } }) => JSON.stringify([admin, id]));
        expect(new Set(names).size).toBe(totals.length);
      }),
      { numRuns: effort(200, 10_000) },
    );
  });

  it('is in the order of admins and ids, and its totals can be grouped again', () => {
    fc.assert(
      fc.property(amounts, amounts, (one, other) => {
        const whole = groupTotals([...one, ...other]);
        const parts = groupTotals([...groupTotals(other), ...groupTotals(one)]);
        const plain = whole.map(({ instrumentId, amount }) => ({ instrumentId, amount }));
        expect(parts.map(({ instrumentId, amount }) => ({ instrumentId, amount }))).toEqual(plain);
      }),
    );
    expect(totalOf({ admin: 'a', id: 'x' }, [])).toBe('0.0');
  });
});

describe('toTotals', () => {
  const gold = { admin: 'bank', id: 'Gold' };
  const contract = (payload: object) => ({ _tag: 'Contract', payload }) as never;

  it('emits the totals, and how many contracts are in none', () => {
    const emitted: unknown[] = [];
    of([contract({ instrumentId: gold, amount: '1.5' }), { _tag: 'UndecodedContract' } as never], [])
      .pipe(toTotals())
      .subscribe((totals) => emitted.push(totals));
    expect(emitted).toEqual([
      { totals: [{ instrumentId: gold, amount: '1.5', count: 1 }], undecoded: 1 },
      { totals: [], undecoded: 0 },
    ]);
  });

  it('takes the amount of contracts that are no holdings of the standard', () => {
    const emitted: unknown[] = [];
    of([contract({ grams: '2.0' }), contract({ grams: '3.0' })])
      .pipe(toTotals(({ payload }: { payload: { grams: string } }) => ({ instrumentId: gold, amount: payload.grams })))
      .subscribe(({ totals }) => emitted.push(...totals));
    expect(emitted).toEqual([{ instrumentId: gold, amount: '5.0', count: 2 }]);
  });

  it('fails for an amount that is no decimal', () => {
    const errors: unknown[] = [];
    of([contract({ instrumentId: gold, amount: 1.5 })])
      .pipe(toTotals())
      .subscribe({ error: (error: unknown) => errors.push(error) });
    expect(errors).toEqual([expect.any(TypeError)]);
  });
});
