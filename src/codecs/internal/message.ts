import type * as t from 'io-ts';
import {
  atKey,
  Codec,
  type ErrorSink,
  fail,
  invalid,
  isPlain,
  isRecord,
  type Plain,
  plainOf,
  type Read,
  readerOf,
} from './Codec.js';

/** One codec per field. A field that may be absent in `A` needs `optional`, `nullable` or `withDefault`. */
type FieldsOf<A> = {
  readonly [K in keyof A]-?: object extends Pick<A, K> ? t.Type<A[K] | undefined, unknown> : t.Type<A[K], unknown>;
} & Readonly<Record<string, t.Mixed>>;

/**
 * A JSON object with the given fields. It keeps unknown fields, so that users get the fields that a newer ledger adds.
 * In a `closed` message, unknown fields are an error. A field that decodes or encodes to `undefined` is omitted.
 */
export function message<A extends object>(name: string, fields: FieldsOf<A>, closed = false): t.Type<A, unknown> {
  // all fields of a closed message are needed: the loop over its keys does not visit the accessors of a class instance
  const all = Object.entries<t.Mixed>(fields).map(([key, codec]) => fieldOf(key, codec, closed));
  const needed = all.filter(({ isNeeded }) => isNeeded);
  const known = new Map(all.map((field) => [field.key, field]));
  // the fields in the order of the last object; the next object most likely has the same order, and comparing is
  // cheaper than a lookup
  const order: (Field | undefined)[] = [...all];
  const _tag: t.Mixed | undefined = fields['_tag'];
  const isTagged = _tag !== undefined;
  const tagValue: unknown = _tag && readerOf(_tag)(undefined, undefined);
  const isUnknown = (key: string): boolean => !known.has(key);
  // if no field failed, every field of A is set
  const isComplete = (_decoded: object, isValid: boolean): _decoded is A => isValid;
  const self: t.Type<A, unknown> = new Codec<A>(
    name,
    (u): u is A =>
      isRecord(u) && !(closed && Object.keys(u).some(isUnknown)) && all.every(({ key, codec }) => codec.is(u[key])),
    (u, sink) => {
      if (!isRecord(u)) return fail(u, sink);
      const decoded: Record<string, unknown> = isTagged ? { _tag: tagValue } : {};
      let isValid = true;
      let found = 0;
      let position = 0;
      // in the order of the object's own keys, which is the fastest in all engines
      for (const key in u) {
        let field = order[position];
        if (field?.key !== key) {
          field = known.get(key);
          if (position < order.length) order[position] = field;
        }
        position += 1;
        if (field === undefined) {
          if (closed) isValid = fail(u, atKey(sink, key, self, u), 'no such field') !== invalid;
          else define(decoded, key, u[key]);
        } else {
          const a = readField(field, u[key], sink);
          if (field.isNeeded) found += 1;
          if (a === invalid) isValid = false;
          else if (a !== undefined) decoded[key] = a;
        }
        if (!isValid && sink === undefined) return invalid;
      }
      for (const field of found < needed.length ? needed : []) {
        if (Object.hasOwn(decoded, field.key) || (!isValid && field.key in u)) continue;
        const a = readField(field, u[field.key], sink);
        if (a === invalid) isValid = false;
        else if (a !== undefined) decoded[field.key] = a;
      }
      return isComplete(decoded, isValid) ? decoded : invalid;
    },
    (a) => {
      if (!isRecord(a)) return a;
      const encoded: Record<string, unknown> = { ...a };
      for (const { key, codec } of all) setOrDelete(encoded, key, codec.encode(encoded[key]));
      return encoded;
    },
  );
  return self;
}

/** A field of a message. */
interface Field {
  readonly key: string;
  readonly codec: t.Mixed;
  readonly read: Read<unknown>;
  /** Values that need no call of `read`. */
  readonly plain: Plain;
  /** The result of reading `null`. */
  readonly nullValue: unknown;
  /** Whether to read the field even if it is absent, because its absence is an error or it has a default. */
  readonly isNeeded: boolean;
}

function fieldOf(key: string, codec: t.Mixed, closed: boolean): Field {
  const read = readerOf(codec);
  return {
    key,
    codec,
    read,
    plain: plainOf(codec),
    nullValue: read(null, undefined),
    isNeeded: closed || (key !== '_tag' && read(undefined, undefined) !== undefined),
  };
}

function readField(
  { key, codec, read, plain, nullValue }: Field,
  value: unknown,
  sink: ErrorSink | undefined,
): unknown {
  if (isPlain(plain, value)) return value;
  if (value === null && nullValue !== invalid) return nullValue;
  return read(value, sink && atKey(sink, key, codec, value));
}

/** Sets a field, including `__proto__`, which an assignment cannot set. For all others, an assignment is faster. */
function define(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key in object)
    Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
  else object[key] = value;
}

function setOrDelete(object: Record<string, unknown>, key: string, value: unknown): void {
  // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- the keys are the codec's own, a handful
  if (value === undefined) delete object[key];
  else object[key] = value;
}

/**
 * A {@link message} in which an unknown field is an error. For requests: the ledger ignores a misspelled field, and the
 * caller would not notice.
 */
export const exact = <A extends object>(name: string, fields: FieldsOf<A>): t.Type<A, unknown> =>
  message(name, fields, true);

/** A value under a single key, `{"value": content}` or `{"update": content}`. Decodes to the content. */
export function envelope<A>(key: string, codec: t.Type<A, unknown>): t.Type<A, unknown> {
  const read = readerOf(codec);
  return new Codec<A>(
    `{ ${key}: ${codec.name} }`,
    (u): u is A => codec.is(u),
    (u, sink) => {
      if (!isRecord(u)) return fail(u, sink);
      let content: unknown;
      // enumeration reads the field directly; a lookup by name is slower on objects of many shapes
      for (const name in u) if (name === key) content = u[name];
      return read(content, sink && atKey(sink, key, codec, content));
    },
    (a) => ({ [key]: codec.encode(a) }),
  );
}

/** `{"value": content}` in a request, which keeps its wire format. */
export const valueField = <A>(content: t.Type<A, unknown>): t.Type<{ readonly value: A }, unknown> =>
  exact<{ readonly value: A }>(content.name, { value: content });
