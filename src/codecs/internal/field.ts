import * as t from 'io-ts';
import { Codec, fail, isPlain, type Plain, plainOf, readerOf } from './Codec.js';

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
