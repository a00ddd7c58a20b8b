import type { Value } from '@canton-network/core-ledger-proto';
import { isRecord } from '../codecs/internal/Codec.js';

/** Whether the JSON denotes a scalar value. */
export function scalarEquals(json: unknown, sum: Value['sum']): boolean {
  switch (sum.oneofKind) {
    case 'unit':
      return isRecord(json) && Object.keys(json).length === 0;
    case 'bool':
      return json === sum.bool;
    case 'int64':
      return isInteger(json) && BigInt(json).toString() === sum.int64;
    case 'numeric':
      return decimalEquals(json, sum.numeric);
    case 'text':
      return json === sum.text;
    case 'party':
      return json === sum.party;
    case 'contractId':
      return json === sum.contractId;
    case 'enum':
      return json === sum.enum.constructor;
    case 'date':
      return json === formatDate(sum.date);
    case 'timestamp':
      return typeof json === 'string' && parseMicros(json)?.toString() === sum.timestamp;
    default:
      return false;
  }
}

/** Whether a value is an `Int` that is not exact as a number. The vendor's library would hash the rounded number. */
export const isLargeInt = ({ sum }: Value): boolean =>
  sum.oneofKind === 'int64' && !Number.isSafeInteger(Number(sum.int64));

/** A number that is not a safe integer may already have been rounded. */
const isInteger = (json: unknown): json is string | number =>
  typeof json === 'string' ? /^-?\d{1,19}$/.test(json) : Number.isSafeInteger(json);

function decimalEquals(json: unknown, numeric: string): boolean {
  if (typeof json !== 'string' && typeof json !== 'number') return false;
  // the client sends a number in the same text form
  const requested = normalizeDecimal(String(json));
  return requested !== undefined && requested === normalizeDecimal(numeric);
}

const decimalPattern = /^(-?)(\d{1,60})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,2}))?$/;

/**
 * Normalizes a decimal, so that equal numbers have equal text: digits without zeros at either end, and the power of
 * ten.
 */
function normalizeDecimal(text: string): string | undefined {
  const parts = decimalPattern.exec(text);
  if (parts === null) return undefined;
  const [, sign = '', integral = '', fraction = '', exponent = '0'] = parts;
  const digits = (integral + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const power = Number(exponent) - fraction.length + (digits.length - significant.length);
  return `${sign}${significant}e${power}`;
}

/** Formats days since 1970 as a date. The ledger's dates are in the years 1 to 9999. */
function formatDate(days: number): string | undefined {
  const date = new Date(days * 86_400_000);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().slice(0, -14);
}

const timePattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/;

/** Parses a time in UTC to microseconds since 1970. Returns `undefined` if it is invalid or has a finer precision. */
export function parseMicros(text: string): bigint | undefined {
  const [, seconds = '', fraction = ''] = timePattern.exec(text) ?? [];
  const date = new Date(`${seconds}Z`);
  // Date reads February 30 as a day in March
  if (Number.isNaN(date.getTime()) || !date.toISOString().startsWith(seconds)) return undefined;
  if (/[^0]/.test(fraction.slice(6))) return undefined;
  return BigInt(date.getTime()) * 1000n + BigInt(fraction.slice(0, 6).padEnd(6, '0'));
}
