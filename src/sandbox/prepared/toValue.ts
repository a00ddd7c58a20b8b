import type { Identifier, RecordField, Value } from '@canton-network/core-ledger-proto';
import { refused } from '../errors.js';
import { isRecord } from '../requests/Cursor.js';
import { microsOf, timestampOf } from '../wire/values.js';
import { dateOf, daysOf, type Fields, type LfType } from './types.js';

/** A record; what it has beyond the fields that are known is typed by what it looks like. */
export function recordValue(json: unknown, fields: Fields, recordId: Identifier): Value {
  if (!isRecord(json)) throw misfitToValue(json, recordId.entityName);
  const known = Object.entries(fields).flatMap(([label, type]): readonly RecordField[] => {
    const optional = typeof type === 'object' && 'optional' in type;
    return Object.hasOwn(json, label) || optional ? [{ label, value: toValue(json[label], type, recordId) }] : [];
  });
  const others = Object.entries(json).filter(([label]) => !Object.hasOwn(fields, label));
  const guessed = others.map(([label, value]): RecordField => ({ label, value: guessValue(value) }));
  return { sum: { oneofKind: 'record', record: { recordId, fields: [...known, ...guessed] } } };
}

function misfitToValue(json: unknown, type: string) {
  return refused('INVALID_ARGUMENT', `${JSON.stringify(json)} is not a valid ${type} value`);
}

/** The Daml value of a JSON value of a type. Types with a name stand beside the template `home`. */
function toValue(json: unknown, type: LfType, home: Identifier): Value {
  return { sum: sumOf(json, type, home) };
}

function sumOf(json: unknown, type: LfType, home: Identifier): Value['sum'] {
  if (typeof type === 'string') return scalarValue(json, type);
  if ('optional' in type) {
    const isNone = json === undefined || json === null;
    return { oneofKind: 'optional', optional: isNone ? {} : { value: toValue(json, type.optional, home) } };
  }
  if ('list' in type) {
    const elements = listOf(json).map((element) => toValue(element, type.list, home));
    return { oneofKind: 'list', list: { elements } };
  }
  if ('textMap' in type) {
    if (!isRecord(json)) throw misfitToValue(json, 'TextMap');
    // the keys of a Daml map ascend
    const entries = Object.entries(json).sort(([a], [b]) => (a < b ? -1 : 1));
    const typed = entries.map(([key, value]) => ({ key, value: toValue(value, type.textMap, home) }));
    return { oneofKind: 'textMap', textMap: { entries: typed } };
  }
  if ('genMap' in type) {
    const [keyType, valueType] = type.genMap;
    const pairs = listOf(json).map((pair) => listOf(pair));
    const entries = pairs.map(([key, value]) => ({
      key: toValue(key, keyType, home),
      value: toValue(value, valueType, home),
    }));
    return { oneofKind: 'genMap', genMap: { entries } };
  }
  const id = { ...home, entityName: type.name };
  if ('record' in type) return recordValue(json, type.record, id).sum;
  if ('variant' in type) {
    const { tag, value } = isRecord(json) ? json : {};
    const of = typeof tag === 'string' && Object.hasOwn(type.variant, tag) ? type.variant[tag] : undefined;
    if (typeof tag !== 'string' || of === undefined) throw misfitToValue(json, type.name);
    return { oneofKind: 'variant', variant: { variantId: id, constructor: tag, value: toValue(value, of, home) } };
  }
  if (typeof json !== 'string' || !type.enum.includes(json)) throw misfitToValue(json, type.name);
  return { oneofKind: 'enum', enum: { enumId: id, constructor: json } };
}

/** The Daml value of a JSON scalar, which is a text for every type but `Bool`. */
function scalarValue(json: unknown, type: Extract<LfType, string>): Value['sum'] {
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

function misfit(json: unknown, type: string) {
  return refused('INVALID_ARGUMENT', `${JSON.stringify(json)} is not a valid ${type} value`);
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

function listOf(json: unknown): readonly unknown[] {
  if (!Array.isArray(json)) throw misfitToValue(json, 'list');
  return json;
}

/** The Daml value that a JSON value of an unknown type most likely is; it reads back as the same JSON. */
function guessValue(json: unknown): Value {
  return { sum: guess(json) };
}

function guess(json: unknown): Value['sum'] {
  if (json === null || json === undefined) return { oneofKind: 'optional', optional: {} };
  if (typeof json === 'boolean') return scalarValue(json, 'bool');
  if (typeof json === 'string') return guessText(json);
  if (Array.isArray(json)) return { oneofKind: 'list', list: { elements: json.map(guessValue) } };
  if (!isRecord(json)) return guessText(JSON.stringify(json));
  const { tag, value, ...rest } = json;
  if (typeof tag === 'string' && 'value' in json && Object.keys(rest).length === 0) {
    return { oneofKind: 'variant', variant: { constructor: tag, value: guessValue(value) } };
  }
  const entries = Object.entries(json);
  if (entries.length === 0) return scalarValue(json, 'unit');
  const fields = entries.map(([label, field]): RecordField => ({ label, value: guessValue(field) }));
  return { oneofKind: 'record', record: { fields } };
}

function guessText(text: string): Value['sum'] {
  const type = guessType(text);
  // the scale is not known either
  return type === 'numeric' ? { oneofKind: 'numeric', numeric: text } : scalarValue(text, type);
}

/** The type that a JSON text looks like. Only what reads back as the same text is taken for more than a text. */
function guessType(text: string): Extract<LfType, string> {
  if (/^[A-Za-z0-9:\-_ ]+::1220[0-9a-f]{64}$/.test(text)) return 'party';
  if (/^00(?:[0-9a-f]{2}){32,}$/.test(text)) return 'contractId';
  if (/^(?:0|-?[1-9]\d{0,18})$/.test(text)) return BigInt.asIntN(64, BigInt(text)) === BigInt(text) ? 'int64' : 'text';
  if (/^-?\d{1,28}\.\d{1,10}$/.test(text)) return 'numeric';
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return dateOf(daysOf(text)) === text ? 'date' : 'text';
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) return isTimestamp(text) ? 'timestamp' : 'text';
  return 'text';
}

function isTimestamp(text: string): boolean {
  const micros = microsOf(text);
  return Number.isSafeInteger(micros) && timestampOf(micros) === text;
}
