import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { UsageError } from '../../src/cli/arguments.js';
import { parseExactJson } from '../../src/cli/exactJson.js';

/** The value of a number of JSON, in units of 10^-400. */
function unitsOf(number: string): bigint {
  const [mantissa = '', exponent = '0'] = number.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return BigInt(whole + fraction) * 10n ** BigInt(400 - fraction.length + Number(exponent));
}

const digits = (max: number) => fc.stringMatching(new RegExp(`^\\d{1,${max}}$`));
const numbers = fc
  .record({
    sign: fc.constantFrom('', '-'),
    whole: fc.stringMatching(/^(0|[1-9]\d{0,19})$/),
    fraction: fc.option(digits(20)),
    exponent: fc.option(fc.integer({ min: -30, max: 30 })),
  })
  .map(
    ({ sign, whole, fraction, exponent }) =>
      sign + whole + (fraction === null ? '' : `.${fraction}`) + (exponent === null ? '' : `e${exponent}`),
  );

/** The JSON that the ledger gets; `undefined` if the text is refused. */
function sent(text: string): string | undefined {
  try {
    return JSON.stringify(parseExactJson(text, '--argument'));
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return undefined;
  }
}

describe('JSON of a user', () => {
  it('is sent with numbers of the same value, or not at all', () => {
    fc.assert(
      fc.property(numbers, (number) => {
        const kept = unitsOf(String(Number(number))) === unitsOf(number);
        expect(sent(`[${number}]`) !== undefined).toBe(kept);
      }),
    );
  });

  it('is sent if JSON.stringify has written it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(sent(text)).toBe(text);
      }),
    );
  });

  it('may have a text of any length', () => {
    const text = JSON.stringify(['\\"7'.repeat(1_000_000)]);
    expect(sent(text)).toBe(text);
    expect(sent(`1${'0'.repeat(1_000_000)}1`)).toBeUndefined();
    expect(sent(`1.${'0'.repeat(1_000_000)}`)).toBe('1');
  });
});
