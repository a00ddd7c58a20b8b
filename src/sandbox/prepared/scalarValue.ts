import type { Value } from '@canton-network/core-ledger-proto';
import { refused } from '../errors/refused.js';
import { microsOf } from '../wire/microsOf.js';
import { dateOf, daysOf } from './dates.js';
import type { LfType } from './LfType.js';

/** The Daml value of a JSON scalar, which is a text for every type but `Bool`. */
export function scalarValue(json: unknown, type: Extract<LfType, string>): Value['sum'] {
  if (type === 'unit') return { oneofKind: 'unit', unit: {} };
  if (type === 'bool') {
    if (typeof json !== 'boolean') throw misfit(json, type);
    return { oneofKind: 'bool', bool: json };
  }
  if (typeof json === 'number' && (type === 'int64' || type === 'numeric')) {
    // this is how participants fail on it
    throw refused('LEDGER_API_INTERNAL_ERROR', `Expected ujson.Str (data: ${json})`);
  }
  if (typeof json !== 'string') throw misfit(json, type);
  return textual(json, type);
}

function textual(json: string, type: Exclude<Extract<LfType, string>, 'unit' | 'bool'>): Value['sum'] {
  switch (type) {
    case 'int64':
      if (!/^-?\d{1,19}$/.test(json) || BigInt.asIntN(64, BigInt(json)) !== BigInt(json)) throw misfit(json, type);
      return { oneofKind: 'int64', int64: String(BigInt(json)) };
    case 'numeric':
      return { oneofKind: 'numeric', numeric: scaled(json) };
    case 'date':
      if (dateOf(daysOf(json)) !== json) throw misfit(json, type);
      return { oneofKind: 'date', date: daysOf(json) };
    case 'timestamp':
      if (!Number.isSafeInteger(microsOf(json))) throw misfit(json, type);
      return { oneofKind: 'timestamp', timestamp: String(microsOf(json)) };
    case 'party':
      return { oneofKind: 'party', party: json };
    case 'contractId':
      return { oneofKind: 'contractId', contractId: json };
    case 'text':
      return { oneofKind: 'text', text: json };
  }
}

/** With the ten digits after the point that `Decimal` has. */
function scaled(json: string): string {
  const [, sign = '', whole, fraction = ''] = /^([+-]?)(\d{1,28})(?:\.(\d{0,10}))?$/.exec(json) ?? [];
  if (whole === undefined) throw refused('COMMAND_PREPROCESSING_FAILED', `${json} is no Numeric of scale 10`);
  return `${sign.replace('+', '')}${BigInt(whole)}.${fraction.padEnd(10, '0')}`;
}

function misfit(json: unknown, type: string) {
  return refused('INVALID_ARGUMENT', `${JSON.stringify(json)} is not a valid ${type} value`);
}
