import { UsageError } from './arguments.js';

/**
 * Parses JSON of a user for the ledger. Throws a {@link UsageError} if it is invalid, or has a number that `JSON.parse` rounds:
 * participants take a Decimal as a number, and would commit another amount.
 */
export function parseExactJson(text: string, option: string): unknown {
  const json = parse(text, option);
  for (const [token] of text.matchAll(tokens)) {
    if (token.startsWith('"') || significant(token) === significant(String(Number(token)))) continue;
    const shown = token.length > maxShown ? `${token.slice(0, maxShown)}…` : token;
    throw new UsageError(`${option} has the number ${shown}, which would be rounded: write it as text, in quotes`);
  }
  return json;
}

function parse(text: string, option: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`${option} must contain valid JSON`);
  }
}

/** The texts and the numbers of valid JSON. Texts are matched so that digits in them are not. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/** The length to which a message cuts a number. */
const maxShown = 60;

/** The digits of a number without zeros at either end, and its power of ten: equal for numbers of equal value. */
function significant(number: string): string {
  const [, whole = '', fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = whole + fraction;
  let end = digits.length;
  // not by a pattern, which would look at a long row of zeros once for each of them
  while (digits[end - 1] === '0') end -= 1;
  const kept = digits.slice(0, end).replace(/^0+/, '');
  return kept === '' ? whole : `${kept}e${Number(exponent) - fraction.length + digits.length - end}`;
}
