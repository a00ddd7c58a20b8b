import type { GenMap_Entry, RecordField, TextMap_Entry, Value } from '@canton-network/core-ledger-proto';
import { isRecord } from '../codecs/internal/Codec.js';
import { isVerificationError } from '../errors/submission.js';
import { refusal } from './transaction.js';

const patternMicrosOf = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/;

/** The microseconds since 1970 of a time in UTC; `undefined` where it is none, or finer than the ledger's times. */
export function microsOf(text: string): bigint | undefined {
  const [, seconds = '', fraction = ''] = patternMicrosOf.exec(text) ?? [];
  const date = new Date(`${seconds}Z`);
  // a day that its month has not is counted on
  if (Number.isNaN(date.getTime()) || !date.toISOString().startsWith(seconds)) return undefined;
  if (/[^0]/.test(fraction.slice(6))) return undefined;
  return BigInt(date.getTime()) * 1000n + BigInt(fraction.slice(0, 6).padEnd(6, '0'));
}

/**
 * Refuses a value that is another one than the JSON says. The value tells the type, by which the JSON is read: as the
 * ledger reads it by the template.
 */
export function checkArgument(json: unknown, value: Value | undefined, path: string): void {
  const sum = value?.sum;
  switch (sum?.oneofKind) {
    case 'record':
      checkRecord(json, sum.record.fields, path, checkArgument);
      return;
    case 'optional':
      checkOptional(json, sum.optional.value, path);
      return;
    case 'variant':
      checkVariant(json, sum.variant, path);
      return;
    case 'list':
    case 'textMap':
    case 'genMap':
      checkCollection(json, sum, path, checkArgument);
      return;
    default:
      if (sum === undefined || !scalarEquals(json, sum)) throw anotherCheckArgument(path);
  }
}

/** Compares what is within. */
type Check = (json: unknown, value: Value | undefined, path: string) => void;

/**
 * Refuses a record with other fields. It may be written by label or, as a list, by position. A field that one of both
 * leaves out is none: the ledger drops such fields at the end, and those that an older version of a template has not.
 */
function checkRecord(json: unknown, fields: readonly RecordField[], path: string, check: Check): void {
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

/** `null` or absent is none; within another optional some is a list of one, so that some of none is an empty list. */
function checkOptional(json: unknown, content: Value | undefined, path: string): void {
  if (content === undefined) {
    if (json !== null && json !== undefined) throw anotherCheckArgument(path);
  } else if (content.sum.oneofKind !== 'optional') {
    if (json === null || json === undefined) throw anotherCheckArgument(path);
    checkArgument(json, content, path);
  } else {
    const hasContent = content.sum.optional.value !== undefined;
    if (!Array.isArray(json) || json.length !== (hasContent ? 1 : 0)) throw anotherCheckArgument(path);
    if (hasContent) checkArgument(json[0], content, path);
  }
}

const anotherCheckArgument = (path: string) => refusal('commands', 'it has another value', path);

function checkVariant(json: unknown, variant: { constructor: string; value?: Value }, path: string): void {
  const isVariant = typeof json === 'object' && json !== null && 'tag' in json && 'value' in json;
  if (!isVariant || Object.keys(json).length !== 2 || json.tag !== variant.constructor)
    throw anotherCheckArgument(path);
  checkArgument(json.value, variant.value, `${path}.value`);
}

type Collection = Extract<Value['sum'], { oneofKind: 'list' | 'textMap' | 'genMap' }>;

/** Refuses a list or a map with other contents. */
function checkCollection(json: unknown, collection: Collection, path: string, check: Check): void {
  switch (collection.oneofKind) {
    case 'list':
      checkList(json, collection.list.elements, path, check);
      return;
    case 'textMap':
      checkTextMap(json, collection.textMap.entries, path, check);
      return;
    case 'genMap':
      checkGenMap(json, collection.genMap.entries, path, check);
  }
}

function checkList(json: unknown, elements: readonly Value[], path: string, check: Check): void {
  if (!Array.isArray(json) || json.length !== elements.length) throw differs(path);
  elements.forEach((element, index) => {
    check(json[index], element, `${path}[${index}]`);
  });
}

const differs = (path: string) => refusal('commands', 'it has another value', path);

function checkTextMap(json: unknown, entries: readonly TextMap_Entry[], path: string, check: Check): void {
  const keys = new Set(entries.map(({ key }) => key));
  if (!isRecord(json) || keys.size < entries.length || Object.keys(json).length !== keys.size) throw differs(path);
  entries.forEach(({ key, value }, index) => {
    if (!Object.hasOwn(json, key)) throw differs(path);
    check(json[key], value, `${path}[${index}]`);
  });
}

/** Pairs in any order; the ledger has sorted them by their keys. */
function checkGenMap(json: unknown, entries: readonly GenMap_Entry[], path: string, check: Check): void {
  if (!Array.isArray(json) || json.length !== entries.length) throw differs(path);
  const rest = [...entries];
  json.forEach((pair: unknown, index) => {
    if (!Array.isArray(pair) || pair.length !== 2) throw differs(path);
    const found = rest.findIndex(({ key }) =>
      passes(() => {
        check(pair[0], key, path);
      }),
    );
    const [entry] = found === -1 ? [] : rest.splice(found, 1);
    if (entry === undefined) throw differs(path);
    check(pair[1], entry.value, `${path}[${index}][1]`);
  });
}

function passes(check: () => void): boolean {
  try {
    check();
    return true;
  } catch (error) {
    if (isVerificationError(error)) return false;
    throw error;
  }
}

/** Whether JSON says a value that has no parts. */
function scalarEquals(json: unknown, sum: Value['sum']): boolean {
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

const pattern = /^(-?)(\d{1,60})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,2}))?$/;

/** A decimal in a form that is the same for the same number: digits without zeros around, and the power of ten. */
function decimalOf(text: string): string | undefined {
  const parts = pattern.exec(text);
  if (parts === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts;
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const power = Number(exponent) - fraction.length + (digits.length - significant.length);
  return `${sign}${significant}e${power}`;
}

/** Days since 1970 as a date; the ledger's are of the years 1 to 9999. */
function dateOf(days: number): string | undefined {
  const date = new Date(days * 86_400_000);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().slice(0, -14);
}
