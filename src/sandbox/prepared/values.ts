import type { Identifier, RecordField, Value } from '@canton-network/core-ledger-proto';
import { isRecord } from '../../codecs/internal/Codec.js';
import { Party } from '../../codecs/scalars.js';
import { invalidArgument, jsonLayerError, requestError } from '../errors.js';
import { formatMicros, parseMicros } from '../wire/values.js';
import { type Fields, formatDays, type LfType, parseDays } from './types.js';

/**
 * Converts JSON to a Daml record. The last fields of a record are absent if they are `None`, as on a participant.
 *
 * @param fields - the declared fields; if they are not known, their types are guessed
 */
export function recordValue(json: unknown, fields: Fields | undefined, recordId: Identifier): Value {
  if (!isRecord(json)) throw invalidValue(json, recordId.entityName);
  if (fields === undefined) return { sum: { oneofKind: 'record', record: { recordId, fields: guessFields(json) } } };
  const missing = Object.entries(fields).flatMap(([label, type]) => {
    const isOptional = typeof type === 'object' && 'optional' in type;
    return isOptional || Object.hasOwn(json, label) ? [] : label;
  });
  if (missing.length > 0)
    throw jsonLayerError(
      400,
      'COMMAND_PREPROCESSING_FAILED',
      `Missing non-optional fields: Set(${missing.join(', ')})`,
    );
  const unexpected = Object.keys(json).filter((label) => !Object.hasOwn(fields, label));
  if (unexpected.length > 0)
    throw jsonLayerError(400, 'INVALID_ARGUMENT', `Unexpected fields: ${unexpected.join(', ')}`);
  const declared = Object.entries(fields).map(([label, type]): RecordField => ({
    label,
    value: jsonToValue(json[label], type, recordId),
  }));
  return { sum: { oneofKind: 'record', record: { recordId, fields: withoutLastNones(declared) } } };
}

function withoutLastNones(fields: readonly RecordField[]): RecordField[] {
  const last = fields.findLastIndex(({ value }) => value?.sum.oneofKind !== 'optional' || value.sum.optional.value);
  return fields.slice(0, last + 1);
}

/** Converts JSON to a Daml value of a type. Named types are in the module of the template `home`. */
function jsonToValue(json: unknown, type: LfType, home: Identifier): Value {
  return { sum: toSum(json, type, home) };
}

function toSum(json: unknown, type: LfType, home: Identifier): Value['sum'] {
  if (typeof type === 'string') return scalarValue(json, type);
  if ('optional' in type) {
    const isNone = json === undefined || json === null;
    return { oneofKind: 'optional', optional: isNone ? {} : { value: jsonToValue(json, type.optional, home) } };
  }
  if ('list' in type) {
    const elements = requireList(json).map((element) => jsonToValue(element, type.list, home));
    return { oneofKind: 'list', list: { elements } };
  }
  if ('textMap' in type) {
    if (!isRecord(json)) throw invalidValue(json, 'TextMap');
    // the keys of a Daml map are sorted
    const entries = Object.entries(json).sort(([a], [b]) => (a < b ? -1 : 1));
    const typed = entries.map(([key, value]) => ({ key, value: jsonToValue(value, type.textMap, home) }));
    return { oneofKind: 'textMap', textMap: { entries: typed } };
  }
  if ('genMap' in type) {
    const [keyType, valueType] = type.genMap;
    const pairs = requireList(json).map((pair) => requireList(pair));
    const entries = pairs.map(([key, value]) => ({
      key: jsonToValue(key, keyType, home),
      value: jsonToValue(value, valueType, home),
    }));
    return { oneofKind: 'genMap', genMap: { entries } };
  }
  const id = { ...home, entityName: type.name };
  if ('record' in type) return recordValue(json, type.record, id).sum;
  if ('variant' in type) {
    const { tag, value } = isRecord(json) ? json : {};
    const content = typeof tag === 'string' && Object.hasOwn(type.variant, tag) ? type.variant[tag] : undefined;
    if (typeof tag !== 'string' || content === undefined) throw invalidValue(json, type.name);
    return {
      oneofKind: 'variant',
      variant: { variantId: id, constructor: tag, value: jsonToValue(value, content, home) },
    };
  }
  if (typeof json !== 'string' || !type.enum.includes(json)) throw invalidValue(json, type.name);
  return { oneofKind: 'enum', enum: { enumId: id, constructor: json } };
}

/** Converts a JSON scalar: a string for every type except `Bool`, and possibly a number for `Numeric`. */
function scalarValue(json: unknown, type: Scalar): Value['sum'] {
  if (type === 'unit') return { oneofKind: 'unit', unit: {} };
  if (type === 'bool' && typeof json === 'boolean') return { oneofKind: 'bool', bool: json };
  if (typeof json === 'number' && type === 'numeric') return { oneofKind: 'numeric', numeric: toDecimal(String(json)) };
  if (typeof json === 'number' && type === 'int64') {
    const cause = `Expected ujson.Str (data: ${json})`;
    const context = { throwableO: `Some(ujson.Value$InvalidData: ${cause})` };
    throw jsonLayerError(500, 'LEDGER_API_INTERNAL_ERROR', cause, context);
  }
  if (typeof json !== 'string') throw invalidValue(json, type);
  // unlike the types of JSON, the ledger itself checks the parties
  if (type === 'party' && !Party.is(json)) throw invalidArgument(`${JSON.stringify(json)} is not a party`);
  if (type === 'party') return { oneofKind: 'party', party: json };
  if (type === 'contractId') return { oneofKind: 'contractId', contractId: json };
  if (type === 'text') return { oneofKind: 'text', text: json };
  if (type === 'numeric') return { oneofKind: 'numeric', numeric: toDecimal(json) };
  if (type === 'int64' && isInt64(json)) return { oneofKind: 'int64', int64: String(BigInt(json)) };
  if (type === 'date' && formatDays(parseDays(json)) === json) return { oneofKind: 'date', date: parseDays(json) };
  if (type === 'timestamp' && Number.isSafeInteger(parseMicros(json)))
    return { oneofKind: 'timestamp', timestamp: String(parseMicros(json)) };
  throw invalidValue(json, type);
}

type Scalar = Extract<LfType, string>;

const isInt64 = (text: string): boolean =>
  /^-?\d{1,19}$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);

function invalidValue(json: unknown, type: string) {
  return jsonLayerError(400, 'INVALID_ARGUMENT', `${JSON.stringify(json)} is not a valid ${type} value`);
}

/** Formats a number with ten digits after the decimal point, like `Decimal`. */
function toDecimal(json: string): string {
  const [, sign = '', whole, fraction = ''] = /^([+-]?)(\d{1,28})(?:\.(\d{0,10}))?$/.exec(json) ?? [];
  if (whole === undefined) throw requestError('COMMAND_PREPROCESSING_FAILED', `${json} is not a Numeric of scale 10`);
  return `${sign.replace('+', '')}${BigInt(whole)}.${fraction.padEnd(10, '0')}`;
}

function requireList(json: unknown): readonly unknown[] {
  if (!Array.isArray(json)) throw invalidValue(json, 'list');
  return json;
}

/** Brings JSON of an unknown type into the form of responses: the last fields of a record are absent if they are `None`. */
export const normalize = (json: unknown): unknown => valueToJson(guessValue(json));

/** Guesses the Daml value of JSON with an unknown type. The value converts back to the same JSON. */
export function guessValue(json: unknown): Value {
  return { sum: guessSum(json) };
}

function guessSum(json: unknown): Value['sum'] {
  if (json === null || json === undefined) return { oneofKind: 'optional', optional: {} };
  if (typeof json === 'boolean') return scalarValue(json, 'bool');
  if (typeof json === 'string') return guessText(json);
  if (Array.isArray(json)) return { oneofKind: 'list', list: { elements: json.map(guessValue) } };
  if (!isRecord(json)) return guessText(JSON.stringify(json));
  const { tag, value, ...rest } = json;
  if (typeof tag === 'string' && 'value' in json && Object.keys(rest).length === 0) {
    return { oneofKind: 'variant', variant: { constructor: tag, value: guessValue(value) } };
  }
  if (Object.keys(json).length === 0) return scalarValue(json, 'unit');
  return { oneofKind: 'record', record: { fields: guessFields(json) } };
}

const guessFields = (json: Readonly<Record<string, unknown>>): RecordField[] =>
  withoutLastNones(Object.entries(json).map(([label, value]): RecordField => ({ label, value: guessValue(value) })));

function guessText(text: string): Value['sum'] {
  const type = guessType(text);
  // the scale is unknown
  return type === 'numeric' ? { oneofKind: 'numeric', numeric: text } : scalarValue(text, type);
}

/** Guesses the type of a JSON string. Any type other than text must convert back to the same string. */
function guessType(text: string): Scalar {
  if (/^[A-Za-z0-9:\-_ ]+::1220[0-9a-f]{64}$/.test(text)) return 'party';
  if (/^00(?:[0-9a-f]{2}){32,}$/.test(text)) return 'contractId';
  if (/^(?:0|-?[1-9]\d*)$/.test(text) && isInt64(text)) return 'int64';
  if (/^-?\d{1,28}\.\d{1,10}$/.test(text)) return 'numeric';
  if (/^\d{4}-\d\d-\d\d$/.test(text) && formatDays(parseDays(text)) === text) return 'date';
  return isTimestamp(text) ? 'timestamp' : 'text';
}

function isTimestamp(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) return false;
  const micros = parseMicros(text);
  return Number.isSafeInteger(micros) && formatPayloadTime(micros) === text;
}

/** Formats the time in a payload. Unlike the times of updates, it has as few fraction digits as possible. */
const formatPayloadTime = (micros: number): string => formatMicros(micros).replace(/(\.\d*[1-9])0+Z$/, '$1Z');

/** Encodes a Daml value as JSON. */
export function valueToJson(value: Value | undefined): unknown {
  const sum = value?.sum;
  if (sum?.oneofKind === undefined) throw new TypeError('a value without content');
  switch (sum.oneofKind) {
    case 'unit':
      return {};
    case 'bool':
      return sum.bool;
    case 'date':
      return formatDays(sum.date);
    case 'timestamp':
      return formatPayloadTime(Number(sum.timestamp));
    case 'optional':
      return sum.optional.value === undefined ? null : valueToJson(sum.optional.value);
    case 'list':
      return sum.list.elements.map(valueToJson);
    case 'textMap':
      return Object.fromEntries(sum.textMap.entries.map(({ key, value: entry }) => [key, valueToJson(entry)]));
    case 'genMap':
      return sum.genMap.entries.map(({ key, value: entry }) => [valueToJson(key), valueToJson(entry)]);
    case 'record':
      return Object.fromEntries(sum.record.fields.map(({ label, value: field }) => [label, valueToJson(field)]));
    case 'variant':
      return { tag: sum.variant.constructor, value: valueToJson(sum.variant.value) };
    case 'enum':
      return sum.enum.constructor;
    default:
      // all others are texts, in a field of the same name
      return Object.entries(sum).find(([key]) => key === sum.oneofKind)?.[1];
  }
}
