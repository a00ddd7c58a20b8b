import { Refusal, refused } from '../errors.js';
import { microsOf } from '../wire/values.js';

/**
 * A place in a request body. Reads as the participant's decoder does: an absent scalar is its zero, an
 * absent list or map is empty, `null` is fine for optional fields only, unknown fields do not matter.
 */
export class Cursor {
  constructor(
    readonly value: unknown,
    readonly at = '',
  ) {}

  get absent(): boolean {
    return this.value === undefined || this.value === null;
  }

  field(name: string): Cursor {
    if (!isRecord(this.value)) throw this.wrong('object');
    return new Cursor(this.value[name], this.at === '' ? name : `${this.at}.${name}`);
  }

  required(name: string): Cursor {
    const found = this.field(name);
    if (found.value === undefined) throw undecodable(`Missing required field at '${found.at}'`);
    return found;
  }

  optional<A>(read: (cursor: Cursor) => A): A | undefined {
    return this.absent ? undefined : read(this);
  }

  string(): string {
    const value = this.value ?? this.zero('');
    if (typeof value !== 'string') throw this.wrong('string');
    return value;
  }

  integer(): number {
    const value = this.value ?? this.zero(0);
    if (typeof value !== 'number' || !Number.isInteger(value)) throw this.wrong('integer');
    return value;
  }

  boolean(): boolean {
    const value = this.value ?? this.zero(false);
    if (typeof value !== 'boolean') throw this.wrong('boolean');
    return value;
  }

  list(): readonly Cursor[] {
    const value = this.value ?? this.zero([]);
    if (!Array.isArray(value)) throw this.wrong('array');
    return value.map((item, index) => new Cursor(item, `${this.at}[${index}]`));
  }

  entries(): readonly (readonly [string, Cursor])[] {
    const value = this.value ?? this.zero({});
    if (!isRecord(value)) throw this.wrong('object');
    return Object.entries(value).map(([key, item]) => [key, new Cursor(item, `${this.at}.${key}`)] as const);
  }

  /** The variant of a one-of and its content. */
  oneOf(): readonly [string, Cursor] {
    const [variant, ...others] = this.entries();
    if (variant === undefined || others.length > 0) throw this.wrong('object with one key');
    return variant;
  }

  oneOfStrings(allowed: readonly string[]): string {
    const value = this.string();
    if (!allowed.includes(value)) throw this.wrong(`value among ${allowed.join(', ')}`);
    return value;
  }

  private zero<A>(value: A): A | null {
    return this.value === undefined ? value : null;
  }

  private wrong(expected: string) {
    return undecodable(`Got a value of another type, expecting ${expected} at '${this.at}'`);
  }
}

/** Whether a JSON value is an object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The refusal of a body that cannot be decoded. */
export function undecodable(reason: string): Refusal {
  return new Refusal(400, `Invalid value for: body (${reason})`);
}

/** The body of a request, ready to be read. */
export function parseBody(text: string): Cursor {
  try {
    return new Cursor(JSON.parse(text));
  } catch {
    throw undecodable('the body is not valid JSON');
  }
}

/** Bytes in padded base64. */
export function readBase64(cursor: Cursor): Buffer {
  const value = cursor.string();
  const valid = value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);
  if (!valid) throw undecodable(`The string is not a valid Base64: ${value} at '${cursor.at}'`);
  return Buffer.from(value, 'base64');
}

/** A duration of seconds and nanoseconds, in milliseconds. */
export function readDuration(cursor: Cursor): number {
  return cursor.field('seconds').integer() * 1000 + cursor.field('nanos').integer() / 1e6;
}

/** A template or interface identifier: always three parts. */
export function readIdentifier(cursor: Cursor): string {
  const identifier = cursor.string();
  if (/^#?[^:#]+:[^:]+:[^:]+$/.test(identifier)) return identifier;
  const expected = 'not matching the expected format (<package>:<moduleName>:<entityName>)';
  throw undecodable(`Invalid identifier format (${identifier}) ${expected} at '${cursor.at}'`);
}

/** An integer of the query, `undefined` if it is not there. */
export function readInteger(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  if (!/^[+-]?\d{1,19}$/.test(value)) throw new Refusal(400, `Invalid value for: query parameter ${name}`);
  return Number(value);
}

/** An id made of the characters that Daml allows. */
export function readLedgerString(cursor: Cursor): string {
  const value = cursor.string();
  if (value === '') throw refused('MISSING_FIELD', `The submitted command is missing a mandatory field: ${cursor.at}`);
  if (/^[A-Za-z0-9#:\-_/ .]{1,255}$/.test(value)) return value;
  throw refused('INVALID_FIELD', `The submitted command has a field with invalid value: ${cursor.at}`);
}

/** A timestamp, in microseconds since the epoch. */
export function readTimestamp(cursor: Cursor): number {
  const value = cursor.string();
  const micros = microsOf(value);
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?Z$/.test(value) && !Number.isNaN(micros)) return micros;
  throw undecodable(`Text '${value}' could not be parsed at '${cursor.at}'`);
}
