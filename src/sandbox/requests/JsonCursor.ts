import { isRecord } from '../../codecs/internal/Codec.js';
import { RequestError, requestError } from '../errors.js';
import { parseMicros } from '../wire/values.js';

/**
 * A position in a request body, with methods that decode as participants do: an absent scalar is its zero value, an
 * absent list or map is empty, `null` is valid for optional fields only, and unknown fields are ignored.
 */
export class JsonCursor {
  constructor(
    readonly value: unknown,
    readonly at = '',
  ) {}

  get absent(): boolean {
    return this.value === undefined || this.value === null;
  }

  field(name: string): JsonCursor {
    if (!isRecord(this.value)) throw this.typeError('object');
    return new JsonCursor(this.value[name], this.at === '' ? name : `${this.at}.${name}`);
  }

  required(name: string): JsonCursor {
    const found = this.field(name);
    if (found.value === undefined) throw decodeError(`Missing required field at '${found.at}'`);
    return found;
  }

  optional<A>(read: (cursor: JsonCursor) => A): A | undefined {
    return this.absent ? undefined : read(this);
  }

  string(): string {
    const value = this.value ?? this.zeroIfAbsent('');
    if (typeof value !== 'string') throw this.typeError('string');
    return value;
  }

  integer(): number {
    const value = this.value ?? this.zeroIfAbsent(0);
    if (typeof value !== 'number' || !Number.isInteger(value)) throw this.typeError('integer');
    return value;
  }

  boolean(): boolean {
    const value = this.value ?? this.zeroIfAbsent(false);
    if (typeof value !== 'boolean') throw this.typeError('boolean');
    return value;
  }

  list(): readonly JsonCursor[] {
    const value = this.value ?? this.zeroIfAbsent([]);
    if (!Array.isArray(value)) throw this.typeError('array');
    return value.map((item, index) => new JsonCursor(item, `${this.at}[${index}]`));
  }

  entries(): readonly (readonly [string, JsonCursor])[] {
    const value = this.value ?? this.zeroIfAbsent({});
    if (!isRecord(value)) throw this.typeError('object');
    return Object.entries(value).map(([key, item]) => [key, new JsonCursor(item, `${this.at}.${key}`)] as const);
  }

  /** Reads a one-of: the name of its variant and its content. */
  oneOf(): readonly [string, JsonCursor] {
    const [variant, ...others] = this.entries();
    if (variant === undefined || others.length > 0) throw this.typeError('object with one key');
    return variant;
  }

  oneOfStrings(allowed: readonly string[]): string {
    const value = this.string();
    if (!allowed.includes(value)) throw this.typeError(`value among ${allowed.join(', ')}`);
    return value;
  }

  private zeroIfAbsent<A>(value: A): A | null {
    return this.value === undefined ? value : null;
  }

  private typeError(expected: string) {
    return decodeError(`Got a value of another type, expecting ${expected} at '${this.at}'`);
  }
}

/** Creates the error of a body that cannot be decoded. */
export function decodeError(reason: string): RequestError {
  return new RequestError(400, `Invalid value for: body (${reason})`);
}

/** Creates the error of a mandatory field that is absent or empty. */
export function missingField(field: string): RequestError {
  return requestError('MISSING_FIELD', `The submitted command is missing a mandatory field: ${field}`);
}

/** Parses the body of a request. */
export function parseBody(text: string): JsonCursor {
  try {
    return new JsonCursor(JSON.parse(text));
  } catch {
    throw decodeError('the body is not valid JSON');
  }
}

/** Reads bytes in padded base64. */
export function readBase64(cursor: JsonCursor): Buffer {
  const value = cursor.string();
  const valid = value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);
  if (!valid) throw decodeError(`The string is not a valid Base64: ${value} at '${cursor.at}'`);
  return Buffer.from(value, 'base64');
}

/** Reads a duration of seconds and nanoseconds, in milliseconds. */
export function readDuration(cursor: JsonCursor): number {
  return cursor.field('seconds').integer() * 1000 + cursor.field('nanos').integer() / 1e6;
}

/** Reads a template or interface identifier, which has three parts. */
export function readIdentifier(cursor: JsonCursor): string {
  const identifier = cursor.string();
  if (/^#?[^:#]+:[^:]+:[^:]+$/.test(identifier)) return identifier;
  const expected = 'not matching the expected format (<package>:<moduleName>:<entityName>)';
  throw decodeError(`Invalid identifier format (${identifier}) ${expected} at '${cursor.at}'`);
}

/** Reads an integer query parameter; `undefined` if it is absent. */
export function readInteger(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  if (!/^[+-]?\d{1,19}$/.test(value)) throw new RequestError(400, `Invalid value for: query parameter ${name}`);
  return Number(value);
}

/** Reads an id of the characters that Daml allows. */
export function readLedgerString(cursor: JsonCursor): string {
  const value = cursor.string();
  if (value === '') throw missingField(cursor.at);
  if (/^[A-Za-z0-9#:\-_/ .]{1,255}$/.test(value)) return value;
  throw requestError('INVALID_FIELD', `The submitted command has a field with invalid value: ${cursor.at}`);
}

/** Reads a timestamp, in microseconds since the epoch. */
export function readTimestamp(cursor: JsonCursor): number {
  const value = cursor.string();
  const micros = parseMicros(value);
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?Z$/.test(value) && !Number.isNaN(micros)) return micros;
  throw decodeError(`Text '${value}' could not be parsed at '${cursor.at}'`);
}
