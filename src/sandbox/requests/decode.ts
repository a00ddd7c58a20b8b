import type * as t from 'io-ts';
import type { DeduplicationPeriod as WirePeriod } from '../../codecs/ExecuteRequest.js';
import { isRecord } from '../../codecs/internal/Codec.js';
import type { Duration, MinLedgerTime } from '../../codecs/MinLedgerTime.js';
import type { Opt } from '../../codecs/scalars.js';
import { invalidArgument, RequestError, requestError } from '../errors.js';
import type { Settings } from '../participant/Settings.js';
import { maxMicros, parseMicros } from '../wire/values.js';

/** Parses the body of a request, and decodes it. In 3.3, each number and each flag must be present. */
export function decodeBody<A>(codec: t.Type<A, unknown>, text: string, { profile }: Pick<Settings, 'profile'>): A {
  const body = parseBody(text);
  const request = decode(codec, body);
  if (profile < '3.4') checkScalars(body, codec.encode(request), '');
  return request;
}

/** Fields that 3.3 does not have, and one that it requires only together with a filter. */
const laterFields: readonly string[] = ['descendingOrder', 'includeIncompleteReassignments', 'verbose'];

function checkScalars(body: unknown, encoded: unknown, path: string): void {
  if (body === encoded || typeof encoded !== 'object' || encoded === null) return;
  const given = Object(body) as Readonly<Record<string, unknown>>;
  for (const [key, value] of Object.entries<unknown>({ ...encoded })) {
    const at = joinPath(path, key);
    const isScalar = typeof value === 'boolean' || typeof value === 'number';
    const isRequired = !laterFields.includes(at) || (at === 'verbose' && isRecord(given['filter']));
    if (isScalar && isRequired && given[key] === undefined) throw decodeError(`Missing required field at '${at}'`);
    checkScalars(given[key], value, at);
  }
}

/** Parses the body of a request. */
export function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw decodeError(syntaxProblem(text, String(error)));
  }
}

/** Describes the syntax error of a text as a participant does, as far as the message of `JSON.parse` shows it. */
function syntaxProblem(text: string, message: string): string {
  const position = Number(/ at position (\d+)/.exec(message)?.[1] ?? Number.NaN);
  if (/end of JSON input|Unterminated string/.test(message) || position >= text.length) return 'exhausted input';
  const index = Number.isNaN(position) ? text.search(/\S/) : position;
  const line = text.slice(0, index).split('\n');
  return `expected json value got '${text.charAt(index)}' (line ${line.length}, column ${(line.at(-1) ?? '').length + 1})`;
}

/**
 * Decodes a request as participants do. They are more lenient than the codecs, which are made for clients: they ignore
 * unknown fields, and an absent scalar is its zero value. But `null` is valid for optional fields only.
 *
 * @param path - where the request is in the body
 * @throws RequestError for the first field that is wrong, with the participant's error
 */
export function decode<A>(codec: t.Type<A, unknown>, body: unknown, path = ''): A {
  for (let repaired = body; ;) {
    const result = codec.decode(repaired);
    if (result._tag === 'Right') {
      checkNulls(body, codec.encode(result.right), path);
      return result.right;
    }
    const wrong = result.left.find((error) => !isUnknownField(error) && !isAbsentZero(error) && !isPast(error));
    if (wrong !== undefined) throw errorOf(wrong, path);
    repaired = repair(repaired, result.left);
  }
}

/** Rejects a request without one of the fields that participants require, although the specification does not. */
export function requireFields(body: unknown, ...names: readonly string[]): void {
  const absent = names.find((name) => isRecord(body) && body[name] === undefined);
  if (absent !== undefined) throw decodeError(`Missing required field at '${absent}'`);
}

/** The codecs of requests report unknown fields in this way. */
const isUnknownField = ({ message }: t.ValidationError): boolean => message === 'no such field';

const isAbsentZero = (error: t.ValidationError): boolean =>
  error.value === undefined && Object.hasOwn(zeros, keyOf(error));

/** Whether a negative number is part of a minimum ledger time: such a time is in the past, and has no effect. */
const isPast = (error: t.ValidationError): boolean =>
  isNegative(error.value) && keysOf(error).some((key) => /^minLedgerTimeRel$/i.test(key));

const isNegative = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) < 0;

/** The zero values of fields that the codecs require. */
const zeros: Readonly<Record<string, unknown>> = {
  seconds: 0,
  choiceArgument: {},
};

/** Returns a copy without the unknown fields, and with zero for absent and for past values. */
function repair(body: unknown, errors: t.Errors): unknown {
  const copy: unknown = structuredClone(body);
  for (const error of errors) {
    const key = keyOf(error);
    const holder = keysOf(error)
      .slice(0, -1)
      .reduce<unknown>((value, name) => (Object(value) as Record<string, unknown>)[name], copy);
    if (!isRecord(holder)) continue;
    if (isUnknownField(error)) Reflect.deleteProperty(holder, key);
    else holder[key] = zeros[key] ?? 0;
  }
  return copy;
}

const keysOf = ({ context }: t.ValidationError): readonly string[] => context.slice(1).map(({ key }) => key);

const keyOf = (error: t.ValidationError): string => keysOf(error).at(-1) ?? '';

/** Rejects a `null` in place of a value that is not optional. The encoded request has a value there. */
function checkNulls(body: unknown, encoded: unknown, path: string): void {
  if (body === encoded || typeof body !== 'object' || body === null) return;
  const present = Object(encoded) as Readonly<Record<string, unknown>>;
  for (const [key, value] of Object.entries(body)) {
    const at = joinPath(path, key);
    // an argument of a command may contain null
    if (value === null && present[key] != null) throw typeError('a value', at);
    checkNulls(value, present[key], at);
  }
}

const joinPath = (path: string, key: string): string =>
  /^\d+$/.test(key) ? `${path}[${key}]` : [path, key].filter((part) => part !== '').join('.');

/** The participant's error for a field that does not decode. */
function errorOf(error: t.ValidationError, start: string): RequestError {
  const { context, message, value } = error;
  const path = keysOf(error).reduce(joinPath, start);
  const { name = '' } = context.at(-1)?.type ?? {};
  if (name === 'EventFormat' && (value === undefined || value === null)) return missingField(keyOf(error));
  if (value === undefined) return decodeError(`Missing required field at '${path}'`);
  if (message?.startsWith('one of the keys') === true)
    return decodeError(`JSON decoding to CNil should never happen at '${path}'`);
  if (isNegative(value) && path.includes('.DeduplicationDuration.'))
    return invalidField('deduplication_period: Duration must be positive');
  if (isNegative(value) && path.includes('.DeduplicationOffset.'))
    return negativeOffset(Number(value), 'deduplication_period');
  if (Array.isArray(value) && value.length === 0) return missingField(path);
  if (typeof value === 'string') return errorOfText(value, name, path) ?? typeError(message ?? name, path);
  return typeError(message ?? name, path);
}

/** The participant's error for a text that is not of a type; `undefined` if there is no special error. */
function errorOfText(value: string, type: string, path: string): RequestError | undefined {
  switch (type) {
    case 'TransactionShape':
      return value.endsWith('_UNSPECIFIED') ? missingField('transactionShape') : undefined;
    case 'Party':
      return value === '' ? missingField(path) : invalidArgument(`${JSON.stringify(value)} at ${path} is not a party`);
    case 'LedgerString':
    case 'UserId':
      return value === '' ? missingField(path) : invalidField(path);
    case 'TemplateId': {
      const expected = 'not matching the expected format (<package>:<moduleName>:<entityName>)';
      return decodeError(`Invalid identifier format (${value}) ${expected} at '${path}'`);
    }
    case 'Base64':
      return base64Error(value, path);
    case 'Timestamp':
      return timeError(value, path);
    default:
      return undefined;
  }
}

const typeError = (expected: string, path: string): RequestError =>
  decodeError(`Got a value of another type, expecting ${expected} at '${path}'`);

const base64Error = (value: string, path: string): RequestError =>
  decodeError(`The string is not a valid Base64: ${value} at '${path}'`);

const timeError = (value: string, path: string): RequestError =>
  decodeError(`Text '${value}' could not be parsed at '${path}'`);

/** Creates the error of a body that cannot be decoded. */
function decodeError(reason: string): RequestError {
  return new RequestError(400, `Invalid value for: body (${reason})`);
}

/** Creates the error of a mandatory field that is absent or empty. Participants name it as protobuf does. */
export function missingField(path: string): RequestError {
  const field = path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return requestError('MISSING_FIELD', `The submitted command is missing a mandatory field: ${field}`);
}

/** Creates the error of a field with characters that are not allowed. */
export const invalidField = (path: string): RequestError =>
  requestError('INVALID_FIELD', `The submitted command has a field with invalid value: Invalid field ${path}`);

/** Reads bytes in padded base64, possibly none. */
export function readBase64(text: string, field: string): Buffer {
  const isValid = text.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(text.replace(/={1,2}$/, ''));
  if (!isValid) throw base64Error(text, field);
  return Buffer.from(text, 'base64');
}

/** Reads a duration of seconds and nanoseconds, in milliseconds. */
function readDuration({ seconds, nanos }: Duration): number {
  return seconds * 1000 + (nanos ?? 0) / 1e6;
}

/** How far back an earlier commit of the same change counts. */
export type DeduplicationPeriod =
  | { readonly afterOffset: number }
  /** The participant keeps what its default period needs, so only a requested duration can reach into pruned data. */
  | { readonly ms: number; readonly isDefault: boolean };

/** Reads how far back an earlier commit of the same change counts. */
export function readPeriod(period: Opt<WirePeriod>, defaultMs: number): DeduplicationPeriod {
  if (!period || 'Empty' in period) return { ms: defaultMs, isDefault: true };
  if ('DeduplicationOffset' in period) return { afterOffset: period.DeduplicationOffset.value };
  return { ms: readDuration(period.DeduplicationDuration.value), isDefault: false };
}

/**
 * Rejects a negative offset.
 *
 * @param field - the name of the offset in the participant's errors
 */
export function checkNotNegative(offset: number, field = 'begin_exclusive'): void {
  if (offset < 0) throw negativeOffset(offset, field);
}

const negativeOffset = (offset: number, field: string): RequestError =>
  requestError('NEGATIVE_OFFSET', `Offset ${offset} in ${field} is negative`);

/** The user of all tokens: the sandbox does not read tokens, and accepts any user with them. */
const tokenUser = 'ledger-api-user';

/** Returns the user of a request. Without a check of tokens, a request must name it. */
export function readUser(userId: Opt<string>, { checkToken }: Settings): string {
  if (userId) return userId;
  if (checkToken !== undefined) return tokenUser;
  throw requestError('INVALID_TOKEN', 'The submitted request is missing a user-id');
}

/** Reads an integer query parameter; `undefined` if it is absent. */
export function readInteger(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  if (!/^[+-]?\d{1,19}$/.test(value)) throw new RequestError(400, `Invalid value for: query parameter ${name}`);
  return Number(value);
}

/** Reads a timestamp, in microseconds since the epoch. */
export function readTime(timestamp: string, field: string): number {
  const micros = parseMicros(timestamp);
  if (Math.abs(micros) <= maxMicros) return micros;
  throw timeError(timestamp, field);
}

/**
 * Reads the minimum ledger time of a submission, in microseconds since the epoch.
 *
 * @param now - the time of the participant, in milliseconds since the epoch
 */
export function readMinLedgerTime(minLedgerTime: Opt<MinLedgerTime>, now: number): number | undefined {
  const { time } = minLedgerTime ?? {};
  if (time == null || 'Empty' in time) return undefined;
  if ('MinLedgerTimeAbs' in time) return readTime(time.MinLedgerTimeAbs.value, 'minLedgerTime.time');
  const micros = Math.round((now + readDuration(time.MinLedgerTimeRel.value)) * 1000);
  if (micros <= maxMicros) return micros;
  throw typeError('a time', 'minLedgerTime.time');
}
