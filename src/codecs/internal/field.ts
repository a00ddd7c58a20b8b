import * as t from 'io-ts';
import { Codec, isPlain, type Plain, plainOf, readBy, wrong } from './Codec.js';

/**
 * A field that may be absent, or `null` as the wire writes it; both decode to `instead`. A decoded value may have
 * `absent` there.
 */
function lenient<A, B>(codec: t.Type<A, unknown>, instead: B, ...absent: readonly unknown[]): t.Type<A | B, unknown> {
  const read = readBy(codec);
  return new Codec<A | B>(
    codec.name,
    (u): u is A | B => absent.includes(u) || codec.is(u),
    (u, why) => (u === undefined || u === null ? instead : read(u, why)),
    (a) => {
      const present = a ?? instead;
      return codec.is(present) ? codec.encode(present) : undefined;
    },
    plainOf(codec),
  );
}

/** A field of an answer that may be absent. */
export const optional = <A>(codec: t.Type<A, unknown>): t.Type<A | undefined, unknown> =>
  lenient(codec, undefined, undefined);

/** A field of a request that may be absent or `null`; it is not sent then. */
export const nullable = <A>(codec: t.Type<A, unknown>): t.Type<A | null | undefined, unknown> =>
  lenient<A, null | undefined>(codec, undefined, undefined, null);

/** A field that an answer may leave out, with what that means. */
export const defaulting = <A>(codec: t.Type<A, unknown>, value: A): t.Type<A, unknown> => lenient(codec, value);

/** A field of a request that may be left out by the caller and is sent all the same: 3.3 wants every scalar. */
export const withDefault = <A>(codec: t.Type<A, unknown>, value: A): t.Type<A | null | undefined, unknown> =>
  lenient<A, A | null | undefined>(codec, value, undefined, null);

/** A value that is what it is on the wire; `expected` is what a failure says, `plain` what needs no call of `is`. */
export const scalar = <A>(name: string, is: (u: unknown) => u is A, expected = name, plain?: Plain): t.Type<A> =>
  new Codec<A, A>(name, is, (u, why) => (is(u) ? u : wrong(u, why, expected)), t.identity, plain);

/** A string. Stands for `t.string`, whose company of unused codecs a bundler cannot leave out. */
export const text: t.Type<string> = /* @__PURE__ */ scalar(
  'string',
  (u): u is string => typeof u === 'string',
  'string',
  {
    kind: 'text',
  },
);

/** A boolean. Stands for `t.boolean`, whose company of unused codecs a bundler cannot leave out. */
export const flag: t.Type<boolean> = /* @__PURE__ */ scalar(
  'boolean',
  (u): u is boolean => typeof u === 'boolean',
  'boolean',
  {
    kind: 'flag',
  },
);

/** Any JSON value, `null` too; but it must be there. */
export const json: t.Type<unknown> = /* @__PURE__ */ scalar(
  'Json',
  (u): u is unknown => u !== undefined,
  'a JSON value',
  {
    kind: 'json',
  },
);

/** A whole number within bounds that `JSON.parse` has certainly not rounded; `expected` is what a failure says. */
export function whole(name: string, least: number, most: number, expected: string): t.Type<number> {
  const plain: Plain = { kind: 'whole', least, most };
  return scalar(name, (u): u is number => isPlain(plain, u), `${name}, ${expected}`, plain);
}

/** A string of at most `max` characters that matches a pattern; `expected` is what a failure says. */
export const matching = (name: string, pattern: RegExp, max: number, expected: string): t.Type<string> =>
  scalar(name, (u): u is string => typeof u === 'string' && u.length <= max && pattern.test(u), `${name}, ${expected}`);

/** One of the given strings. */
export const oneOfStrings = <S extends string>(name: string, ...values: readonly S[]): t.Type<S> =>
  scalar(name, (u): u is S => values.some((value) => value === u), `one of ${values.join(', ')}`);

/** The `_tag` of a variant: ours, not the wire's, so it is put in when decoding and left out when encoding. */
export const tag = <T extends string>(name: T): t.Type<T, unknown> =>
  new Codec<T>(
    `'${name}'`,
    (u): u is T => u === name,
    () => name,
    () => undefined,
  );
