import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compareDecimals, sumDecimals } from '../../src/tokens/index.js';
import { effort } from '../helpers/effort.js';

const numRuns = effort(200, 20_000);

/** A decimal with its value as a fraction, which is computed in another way: by long multiplication of tens. */
interface Sample {
  readonly text: string;
  readonly numerator: bigint;
  readonly denominator: bigint;
}

const digits = (min: number, max: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: min, maxLength: max }).map((all) => all.join(''));

const decimal: fc.Arbitrary<Sample> = fc
  .record({ sign: fc.constantFrom('', '-', '+'), whole: digits(1, 28), fraction: fc.option(digits(1, 37)) })
  .map(({ sign, whole, fraction }) => ({
    text: `${sign}${whole}${fraction === null ? '' : `.${fraction}`}`,
    numerator: BigInt(`${whole}${fraction ?? ''}`) * (sign === '-' ? -1n : 1n),
    denominator: 10n ** BigInt(fraction?.length ?? 0),
  }));

/** The sum as a fraction. */
const add = (samples: readonly Sample[]) =>
  samples.reduce(
    (sum, { numerator, denominator }) => ({
      numerator: sum.numerator * denominator + numerator * sum.denominator,
      denominator: sum.denominator * denominator,
    }),
    { numerator: 0n, denominator: 1n },
  );

const fractionOf = (text: string) => {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  const numerator = BigInt(whole + fraction) * (text.startsWith('-') ? -1n : 1n);
  return { numerator, denominator: 10n ** BigInt(fraction.length) };
};

describe('sumDecimals', () => {
  it('equals the sum of fractions, in a normal form', () => {
    fc.assert(
      fc.property(fc.array(decimal, { maxLength: 12 }), (samples) => {
        const sum = sumDecimals(samples.map(({ text }) => text));
        expect(sum).toMatch(/^-?(0|[1-9]\d*)\.(0|\d*[1-9])$/);
        const [is, should] = [fractionOf(sum), add(samples)];
        expect(is.numerator * should.denominator).toBe(should.numerator * is.denominator);
        expect(sum).not.toBe('-0.0');
      }),
      { numRuns },
    );
  });

  it('does not depend on the order, and a sum can be added again', () => {
    fc.assert(
      fc.property(fc.array(decimal, { maxLength: 8 }), fc.array(decimal, { maxLength: 8 }), (one, other) => {
        const sum = (...samples: readonly Sample[]): string => sumDecimals(samples.map(({ text }) => text));
        expect(sumDecimals([sum(...one), sum(...other)])).toBe(sum(...other.toReversed(), ...one));
      }),
      { numRuns },
    );
  });

  it('is exact where floating point is not', () => {
    expect(sumDecimals(['0.1', '0.2'])).toBe('0.3');
    expect(sumDecimals(['9999999999999999999999999999.9999999999', '0.0000000001'])).toBe(
      '10000000000000000000000000000.0',
    );
    expect(sumDecimals(['1', '-1.0'])).toBe('0.0');
    expect(sumDecimals([])).toBe('0.0');
  });

  it.each([
    [1],
    [1.5],
    [10n],
    [null],
    [''],
    ['.5'],
    ['5.'],
    ['1e3'],
    ['1,5'],
    [' 1'],
    ['1\n'],
    ['NaN'],
    ['0x1'],
    [`0.${'1'.repeat(38)}`],
  ])('refuses %j', (wrong) => {
    expect(() => sumDecimals(['1.0', wrong as string])).toThrow(TypeError);
    expect(() => compareDecimals('1.0', wrong as string)).toThrow(TypeError);
  });
});

describe('compareDecimals', () => {
  it('has the sign of the difference', () => {
    fc.assert(
      fc.property(decimal, decimal, (one, other) => {
        const difference = one.numerator * other.denominator - other.numerator * one.denominator;
        expect(compareDecimals(one.text, other.text)).toBe(Number(difference > 0n) - Number(difference < 0n));
      }),
      { numRuns },
    );
    expect(compareDecimals('1.50', '1.5')).toBe(0);
  });
});
