import type { GenMap_Entry, RecordField, TextMap_Entry, Value } from '@canton-network/core-ledger-proto';
import { isRecord } from '../codecs/internal/Codec.js';
import { VerificationError } from '../errors/submission.js';
import { isLargeInt, scalarEquals } from './scalars.js';
import { refusal } from './transaction.js';

/**
 * Throws if the JSON does not denote the value. The type of the value determines how to read the JSON, as the template
 * does on the ledger.
 */
export function checkArgument(json: unknown, value: Value | undefined, path: string): void {
  const sum = value?.sum;
  switch (sum?.oneofKind) {
    case 'record':
      checkRecord(json, sum.record.fields, path);
      return;
    case 'optional':
      checkOptional(json, sum.optional.value, path);
      return;
    case 'variant':
      checkVariant(json, sum.variant, path);
      return;
    case 'list':
      checkList(json, sum.list.elements, path);
      return;
    case 'textMap':
      checkTextMap(json, sum.textMap.entries, path);
      return;
    case 'genMap':
      checkGenMap(json, sum.genMap.entries, path);
      return;
    case 'int64':
      if (isLargeInt({ sum })) throw refusal('hash', 'an Int beyond 2^53 - 1 cannot be verified', path);
      if (!scalarEquals(json, sum)) throw differs(path);
      return;
    default:
      if (sum === undefined || !scalarEquals(json, sum)) throw differs(path);
  }
}

const differs = (path: string) => refusal('commands', 'a value differs', path);

/**
 * Checks a record. Its JSON has the fields by label or, in a list, by position. A field that is absent on either side
 * is `None`: the ledger drops trailing fields that are `None`, and fields that an older version of the template lacks.
 */
function checkRecord(json: unknown, fields: readonly RecordField[], path: string): void {
  if (Array.isArray(json)) checkByPosition(json, fields, path);
  else if (isRecord(json)) checkByLabel(json, fields, path);
  else throw differs(path);
}

function checkByPosition(json: readonly unknown[], fields: readonly RecordField[], path: string): void {
  fields.forEach(({ value }, index) => {
    checkArgument(json[index], value, `${path}[${index}]`);
  });
  if (json.slice(fields.length).some((extra) => extra !== null)) throw refusal('commands', 'a field is missing', path);
}

function checkByLabel(json: Readonly<Record<string, unknown>>, fields: readonly RecordField[], path: string): void {
  const labels = new Set(fields.map(({ label }) => label));
  if (labels.size < fields.length || labels.has('')) throw refusal('commands', 'its fields have no labels', path);
  for (const { label, value } of fields) {
    const isRequested = Object.hasOwn(json, label);
    // a label that is not in the request is text from the participant, which an error must not quote
    checkArgument(isRequested ? json[label] : undefined, value, isRequested ? `${path}.${label}` : path);
  }
  const missing = Object.entries(json).find(
    ([key, content]) => !labels.has(key) && content !== null && content !== undefined,
  );
  if (missing !== undefined) throw refusal('commands', 'a field is missing', path);
}

/**
 * Checks an optional. In JSON, `None` is `null` or absent. Inside another optional, `Some` is a list of one element,
 * and `None` an empty list.
 */
function checkOptional(json: unknown, content: Value | undefined, path: string): void {
  if (content === undefined) {
    if (json !== null && json !== undefined) throw differs(path);
  } else if (content.sum.oneofKind !== 'optional') {
    if (json === null || json === undefined) throw differs(path);
    checkArgument(json, content, path);
  } else {
    const hasContent = content.sum.optional.value !== undefined;
    if (!Array.isArray(json) || json.length !== (hasContent ? 1 : 0)) throw differs(path);
    if (hasContent) checkArgument(json[0], content, path);
  }
}

function checkVariant(json: unknown, variant: { constructor: string; value?: Value }, path: string): void {
  const isVariant = typeof json === 'object' && json !== null && 'tag' in json && 'value' in json;
  if (!isVariant || Object.keys(json).length !== 2 || json.tag !== variant.constructor) throw differs(path);
  checkArgument(json.value, variant.value, `${path}.value`);
}

function checkList(json: unknown, elements: readonly Value[], path: string): void {
  if (!Array.isArray(json) || json.length !== elements.length) throw differs(path);
  elements.forEach((element, index) => {
    checkArgument(json[index], element, `${path}[${index}]`);
  });
}

function checkTextMap(json: unknown, entries: readonly TextMap_Entry[], path: string): void {
  const keys = new Set(entries.map(({ key }) => key));
  if (!isRecord(json) || keys.size < entries.length || Object.keys(json).length !== keys.size) throw differs(path);
  entries.forEach(({ key, value }, index) => {
    if (!Object.hasOwn(json, key)) throw differs(path);
    checkArgument(json[key], value, `${path}[${index}]`);
  });
}

/** Checks key-value pairs in any order, because the ledger sorts them by key. */
function checkGenMap(json: unknown, entries: readonly GenMap_Entry[], path: string): void {
  if (!Array.isArray(json) || json.length !== entries.length) throw differs(path);
  const rest = [...entries];
  json.forEach((pair: unknown, index) => {
    if (!Array.isArray(pair) || pair.length !== 2) throw differs(path);
    const found = rest.findIndex(({ key }) => matches(pair[0], key, path));
    const [entry] = found === -1 ? [] : rest.splice(found, 1);
    if (entry === undefined) throw differs(path);
    checkArgument(pair[1], entry.value, `${path}[${index}][1]`);
  });
}

function matches(json: unknown, value: Value | undefined, path: string): boolean {
  try {
    checkArgument(json, value, path);
    return true;
  } catch (error) {
    // another entry may match, unless this one cannot be verified at all
    if (error instanceof VerificationError && error.reason !== 'hash') return false;
    throw error;
  }
}
