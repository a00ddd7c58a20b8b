import type { Identifier, RecordField, Value } from '@canton-network/core-ledger-proto';
import { isRecord } from '../decoding/isRecord.js';
import { refused } from '../errors/refused.js';
import { guessValue } from './guessValue.js';
import type { Fields, LfType } from './LfType.js';
import { scalarValue } from './scalarValue.js';

/** The Daml value of a JSON value of a type. Types with a name stand beside the template `home`. */
export function toValue(json: unknown, type: LfType, home: Identifier): Value {
  return { sum: sumOf(json, type, home) };
}

/** A record; what it has beyond the fields that are known is typed by what it looks like. */
export function recordValue(json: unknown, fields: Fields, recordId: Identifier): Value {
  if (!isRecord(json)) throw misfit(json, recordId.entityName);
  const known = Object.entries(fields).flatMap(([label, type]): readonly RecordField[] => {
    const optional = typeof type === 'object' && 'optional' in type;
    return Object.hasOwn(json, label) || optional ? [{ label, value: toValue(json[label], type, recordId) }] : [];
  });
  const others = Object.entries(json).filter(([label]) => !Object.hasOwn(fields, label));
  const guessed = others.map(([label, value]): RecordField => ({ label, value: guessValue(value) }));
  return { sum: { oneofKind: 'record', record: { recordId, fields: [...known, ...guessed] } } };
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
    if (!isRecord(json)) throw misfit(json, 'TextMap');
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
    if (typeof tag !== 'string' || of === undefined) throw misfit(json, type.name);
    return { oneofKind: 'variant', variant: { variantId: id, constructor: tag, value: toValue(value, of, home) } };
  }
  if (typeof json !== 'string' || !type.enum.includes(json)) throw misfit(json, type.name);
  return { oneofKind: 'enum', enum: { enumId: id, constructor: json } };
}

function listOf(json: unknown): readonly unknown[] {
  if (!Array.isArray(json)) throw misfit(json, 'list');
  return json;
}

function misfit(json: unknown, type: string) {
  return refused('INVALID_ARGUMENT', `${JSON.stringify(json)} is not a valid ${type} value`);
}
