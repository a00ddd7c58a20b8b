import type { RecordField, Value } from '@canton-network/core-ledger-proto';
import { isRecord } from '../codecs/internal/isRecord.js';
import { refusal } from './refusal.js';

/** Compares what is within. */
export type Check = (json: unknown, value: Value | undefined, path: string) => void;

/**
 * Refuses a record with other fields. It may be written by label or, as a list, by position. A field that one of both
 * leaves out is none: the ledger drops such fields at the end, and those that an older version of a template has not.
 */
export function checkRecord(json: unknown, fields: readonly RecordField[], path: string, check: Check): void {
  if (Array.isArray(json)) checkByPosition(json, fields, path, check);
  else if (isRecord(json)) checkByLabel(json, fields, path, check);
  else throw refusal('commands', 'it has another value', path);
}

function checkByPosition(json: readonly unknown[], fields: readonly RecordField[], path: string, check: Check): void {
  fields.forEach(({ value }, index) => {
    check(json[index], value, `${path}[${index}]`);
  });
  if (json.slice(fields.length).some((more) => more !== null)) {
    throw refusal('commands', 'a field is missing', path);
  }
}

function checkByLabel(
  json: Readonly<Record<string, unknown>>,
  fields: readonly RecordField[],
  path: string,
  check: Check,
): void {
  const labels = new Set(fields.map(({ label }) => label));
  if (labels.size < fields.length || labels.has('')) throw refusal('commands', 'its fields have no labels', path);
  for (const { label, value } of fields) {
    const isAsked = Object.hasOwn(json, label);
    // a label that was not asked for is the participant's own word, and not to be quoted
    check(isAsked ? json[label] : undefined, value, isAsked ? `${path}.${label}` : path);
  }
  const missing = Object.entries(json).find(
    ([key, content]) => !labels.has(key) && content !== null && content !== undefined,
  );
  if (missing !== undefined) throw refusal('commands', 'a field is missing', path);
}
