/**
 * A decimal that is not an {@link Amount} of an instrument, such as `'10.5'`.
 *
 * @category Tokens
 */
export type PlainDecimal = string & {
  /** Absent. */
  readonly [instrument]?: never;
};

/**
 * A decimal that is an amount of some instrument. {@link sumDecimals} does not take it, because the amounts of different
 * instruments have no sum: use {@link totalOf} and {@link groupTotals}. For everything else it is a string.
 *
 * @category Tokens
 */
export type Amount = string & {
  /** Only a type: it does not exist. */
  readonly [instrument]: true;
};

declare const instrument: unique symbol;

/**
 * Adds decimals exactly. A minus sign subtracts. Without values, the sum is `'0.0'`.
 *
 * @param values - decimals as the ledger has them, such as `'10.5000000000'`, with at most 37 digits after the point
 * @returns the sum, without zeros at its end, but with at least one digit after the point
 * @throws TypeError for a number, and for text that is not a decimal
 * @example
 * ```ts
 * import { sumDecimals } from 'canton-rx/tokens';
 *
 * console.log(sumDecimals(['0.1', '0.2000000000', '-0.3', '12345678901234567890.0000000001']));
 * // => 12345678901234567890.0000000001
 * ```
 * @category Tokens
 */
export function sumDecimals(values: Iterable<PlainDecimal>): string {
  let sum = 0n;
  for (const value of values) sum += unitsOf(value);
  return textOf(sum);
}

/**
 * Compares two decimals exactly: negative if the first one is less, `0` if they are equal, else positive.
 *
 * @throws TypeError for a number, and for text that is not a decimal
 * @example
 * ```ts
 * import { compareDecimals } from 'canton-rx/tokens';
 *
 * console.log(['10.0', '9.5', '9.50'].toSorted(compareDecimals));
 * // => [ '9.5', '9.50', '10.0' ]
 * ```
 * @category Tokens
 */
export function compareDecimals(one: string, other: string): number {
  const difference = unitsOf(one) - unitsOf(other);
  return difference === 0n ? 0 : Number(difference > 0n) * 2 - 1;
}

/** The digits after the point that a `Numeric` of Daml can have. */
const scale = 37;

const decimal = /^([+-]?)(\d+)(?:\.(\d{1,37}))?$/;

/** A decimal in the smallest units. */
export function unitsOf(value: string): bigint {
  const [, sign, whole, fraction = ''] = (typeof value === 'string' ? decimal.exec(value) : undefined) ?? [];
  if (whole === undefined)
    throw new TypeError('a decimal must be text such as 10.5, with at most 37 digits after the point');
  const units = BigInt(whole + fraction.padEnd(scale, '0'));
  return sign === '-' ? -units : units;
}

/** The decimal of a number of the smallest units. */
export function textOf(units: bigint): string {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  const places = digits.slice(-scale);
  const last = Array.from(places).findLastIndex((digit) => digit !== '0');
  // a decimal has a digit after the point
  return `${units < 0n ? '-' : ''}${digits.slice(0, -scale)}.${places.slice(0, Math.max(1, last + 1))}`;
}
