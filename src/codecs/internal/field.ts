import * as t from 'io-ts';
import { atKey, Codec, fail, invalid, isPlain, isRecord, type Plain, plainOf, readerOf } from './Codec.js';

/** A field of a response that may be absent. */
export const optional = <A>(codec: t.Type<A, unknown>): t.Type<A | undefined, unknown> =>
  lenient(codec, undefined, undefined);

/** A field of a request that may be absent or `null`. Neither is sent. */
export const nullable = <A>(codec: t.Type<A, unknown>): t.Type<A | null | undefined, unknown> =>
  lenient<A, null | undefined>(codec, undefined, undefined, null);

/** A field of a request that may be absent or `null`. Sends the default instead, because 3.3 requires every scalar. */
export const withDefault = <A>(codec: t.Type<A, unknown>, value: A): t.Type<A | null | undefined, unknown> =>
  lenient<A, A | null | undefined>(codec, value, undefined, null);

/**
 * A field that may be absent or `null` on the wire; both decode to `fallback`. `absent` lists the values that a decoded
 * field may have instead of an `A`.
 */
export function lenient<A, B = A>(
  codec: t.Type<A, unknown>,
  fallback: B,
  ...absent: readonly unknown[]
): t.Type<A | B, unknown> {
  const read = readerOf(codec);
  return new Codec<A | B>(
    codec.name,
    (u): u is A | B => absent.includes(u) || codec.is(u),
    (u, sink) => (u === undefined || u === null ? fallback : read(u, sink)),
    (a) => {
      const present = a ?? fallback;
      return codec.is(present) ? codec.encode(present) : undefined;
    },
    plainOf(codec),
  );
}

/** A value that decodes to itself. Errors show `expected`; `plain` describes the values that need no call of `is`. */
export const scalar = <A>(name: string, is: (u: unknown) => u is A, expected = name, plain?: Plain): t.Type<A> =>
  new Codec<A, A>(name, is, (u, sink) => (is(u) ? u : fail(u, sink, expected)), t.identity, plain);

/** A string. Used instead of `t.string`, which would make bundlers include unused io-ts codecs. */
export const text: t.Type<string> = /* @__PURE__ */ scalar(
  'string',
  (u): u is string => typeof u === 'string',
  'string',
  { kind: 'text' },
);

/** A string that the ledger refuses if it is empty. */
export const nonEmpty: t.Type<string, unknown> = /* @__PURE__ */ new Codec<string>(
  'string',
  (u): u is string => text.is(u) && u !== '',
  (u, sink) => (u === '' ? fail(u, sink, 'a string that is not empty') : readerOf(text)(u, sink)),
  t.identity,
);

/** A boolean. Used instead of `t.boolean`, for the same reason. */
export const flag: t.Type<boolean> = /* @__PURE__ */ scalar(
  'boolean',
  (u): u is boolean => typeof u === 'boolean',
  'boolean',
  { kind: 'flag' },
);

/** Any JSON value, `null` included, but not an absent one. */
export const json: t.Type<unknown> = /* @__PURE__ */ scalar(
  'Json',
  (u): u is unknown => u !== undefined,
  'a JSON value',
  { kind: 'json' },
);

/** An integer within bounds that `JSON.parse` cannot have rounded. Errors show `expected`. */
export function integer(name: string, min: number, max: number, expected: string): t.Type<number> {
  const plain: Plain = { kind: 'integer', min, max };
  return scalar(name, (u): u is number => isPlain(plain, u), `${name}, ${expected}`, plain);
}

/** A string of at most `max` characters that matches a pattern. Errors show `expected`. */
export const matching = (name: string, pattern: RegExp, max: number, expected: string): t.Type<string> =>
  scalar(name, (u): u is string => typeof u === 'string' && u.length <= max && pattern.test(u), `${name}, ${expected}`);

/** One of the given strings. */
export const oneOfStrings = <S extends string>(name: string, ...values: readonly S[]): t.Type<S> =>
  scalar(name, (u): u is S => values.some((value) => value === u), `one of ${values.join(', ')}`);

/** The `_tag` of a variant, which is absent on the wire: decoding adds it, encoding drops it. */
export const tag = <T extends string>(name: T): t.Type<T, unknown> =>
  new Codec<T>(
    `'${name}'`,
    (u): u is T => u === name,
    () => name,
    () => undefined,
  );

/** A field that is not on the wire, or not of interest: it is neither decoded nor encoded. */
export const ignored: t.Type<unknown, unknown> = /* @__PURE__ */ new Codec<unknown>(
  'ignored',
  (u): u is unknown => u !== invalid,
  () => undefined,
  () => undefined,
);

/**
 * The maximum number of problems reported for a list. For millions of items, they would take more memory than the list.
 */
const maxProblems = 100;

/** A list of `min` to `max` items. */
export function list<A>(
  item: t.Type<A, unknown>,
  min = 0,
  max = Infinity,
  expected = `Array<${item.name}>`,
): t.Type<readonly A[], unknown> {
  const read = readerOf(item);
  const isList = (u: unknown): u is readonly unknown[] => Array.isArray(u) && u.length >= min && u.length <= max;
  return new Codec<readonly A[]>(
    `Array<${item.name}>`,
    (u): u is readonly A[] => isList(u) && u.every(item.is),
    (u, sink) => {
      if (!isList(u)) return fail(u, sink, expected);
      const decoded: A[] = [];
      const before = sink?.errors.length ?? 0;
      for (let i = 0; i < u.length; i += 1) {
        const a = read(u[i], sink && atKey(sink, String(i), item, u[i]));
        if (a !== invalid) decoded.push(a);
        else if (sink === undefined || sink.errors.length - before >= maxProblems) return invalid;
      }
      return decoded.length === u.length ? decoded : invalid;
    },
    (a) => a.map(item.encode),
  );
}

/**
 * A map in a request. An invalid key is an error. `t.record` would drop its entry, and silently lose the filter of a
 * party.
 */
export function mapOf<A>(
  key: t.Type<string, string>,
  value: t.Type<A, unknown>,
): t.Type<Readonly<Record<string, A>>, unknown> {
  const readKey = readerOf(key);
  const readValue = readerOf(value);
  return new Codec<Readonly<Record<string, A>>>(
    `{ [${key.name}]: ${value.name} }`,
    (u): u is Readonly<Record<string, A>> =>
      isRecord(u) && Object.entries(u).every(([k, content]) => key.is(k) && value.is(content)),
    (u, sink) => {
      if (!isRecord(u)) return fail(u, sink);
      const decoded: [string, A][] = [];
      const entries = Object.entries(u);
      for (const [k, content] of entries) {
        const name = readKey(k, atKey(sink, k, key, k));
        const a = readValue(content, atKey(sink, k, value, content));
        if (name !== invalid && a !== invalid) decoded.push([k, a]);
      }
      return decoded.length === entries.length ? Object.fromEntries(decoded) : invalid;
    },
    (a) => Object.fromEntries(Object.entries(a).map(([k, content]) => [k, value.encode(content)])),
  );
}

/** A list in a response. An absent list (3.3 omits some) and `null` decode to the empty list. */
export const repeated = <A>(item: t.Type<A, unknown>): t.Type<readonly A[], unknown> =>
  lenient<readonly A[]>(list(item), []);

/**
 * A list of strings in a response, like {@link repeated}. A valid list is not copied, because an update has many lists.
 */
export const texts: t.Type<readonly string[], unknown> = /* @__PURE__ */ uncopied(/* @__PURE__ */ repeated(text));

function uncopied(texts: t.Type<readonly string[], unknown>): t.Type<readonly string[], unknown> {
  return new Codec<readonly string[]>(texts.name, texts.is, readerOf(texts), texts.encode, { kind: 'texts' });
}

/** Encodes bytes as lower-case hex digits. */
export function toHex(bytes: Uint8Array): string {
  let digits = '';
  for (const byte of bytes) digits += byte.toString(16).padStart(2, '0');
  return digits;
}

/**
 * Encodes bytes as standard, padded base64. Byte by byte, because a large message exceeds the maximum number of
 * arguments.
 */
export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** Decodes standard base64. Throws a `DOMException` for any other text. */
export function fromBase64(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}
