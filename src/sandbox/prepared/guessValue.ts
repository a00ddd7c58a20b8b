import type { RecordField, Value } from '@canton-network/core-ledger-proto';
import { isRecord } from '../decoding/isRecord.js';
import { guessType } from './guessType.js';
import { scalarValue } from './scalarValue.js';

/** The Daml value that a JSON value of an unknown type most likely is; it reads back as the same JSON. */
export function guessValue(json: unknown): Value {
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
