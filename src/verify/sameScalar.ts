import type { Value } from '@canton-network/core-ledger-proto';
import { isRecord } from '../codecs/internal/isRecord.js';
import { decimalOf } from './decimalOf.js';
import { microsOf } from './microsOf.js';

/** Whether JSON says a value that has no parts. */
export function sameScalar(json: unknown, sum: Value['sum']): boolean {
  switch (sum.oneofKind) {
    case 'unit':
      return isRecord(json) && Object.keys(json).length === 0;
    case 'bool':
      return json === sum.bool;
    case 'int64':
      return isWhole(json) && BigInt(json).toString() === sum.int64;
    case 'numeric':
      return sameDecimal(json, sum.numeric);
    case 'text':
      return json === sum.text;
    case 'party':
      return json === sum.party;
    case 'contractId':
      return json === sum.contractId;
    case 'enum':
      return json === sum.enum.constructor;
    case 'date':
      return json === dateOf(sum.date);
    case 'timestamp':
      return typeof json === 'string' && microsOf(json)?.toString() === sum.timestamp;
    default:
      return false;
  }
}

/** A number that is not safe has been rounded already, and nobody knows from what. */
const isWhole = (json: unknown): json is string | number =>
  typeof json === 'string' ? /^-?\d{1,19}$/.test(json) : Number.isSafeInteger(json);

function sameDecimal(json: unknown, numeric: string): boolean {
  if (typeof json !== 'string' && typeof json !== 'number') return false;
  // a number goes over the wire as the text that it is here
  const asked = decimalOf(String(json));
  return asked !== undefined && asked === decimalOf(numeric);
}

/** Days since 1970 as a date; the ledger's are of the years 1 to 9999. */
function dateOf(days: number): string | undefined {
  const date = new Date(days * 86_400_000);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().slice(0, -14);
}
