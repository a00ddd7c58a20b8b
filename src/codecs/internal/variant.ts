import type * as t from 'io-ts';
import { Offset } from '../scalars.js';
import { Codec, invalid, isRecord, readBy, under, wrong } from './Codec.js';
import { json } from './field.js';

interface Tagged {
  readonly _tag: string;
}

/** A variant that is kept as it came. */
interface Kept extends Tagged {
  readonly variant: string;
  readonly value: unknown;
}

/** The variant that stands for all those this version does not know. */
export interface Unknown<U extends Kept> {
  readonly is: (u: unknown) => u is U;
  /** `undefined` where the content lacks what makes it usable; `expected` says what. */
  readonly decode: (variant: string, content: unknown) => U | undefined;
  readonly expected: string;
}

/** The name of a variant in a problem; a key that is no name could be any text of any length. */
const named = (variant: string): string => (/^\w{1,80}$/.test(variant) ? variant : '…');

/**
 * A one-of of the wire: an object with one key, the variant's name. Decodes to the variant with its `_tag`. A key that
 * is not listed goes to `unknown`, so that a newer ledger does not end a feed.
 *
 * @param wireKeys - the wire's keys of those variants whose key is not their `_tag`
 */
export function oneOf<A extends Tagged, U extends Kept>(
  name: string,
  variants: { readonly [T in A['_tag']]: t.Type<Extract<A, { readonly _tag: T }>, unknown> },
  unknown: Unknown<U>,
  wireKeys: { readonly [T in A['_tag']]?: string } = {},
): t.Type<A | U, unknown> {
  const codecs = new Map<string, t.Type<A, unknown>>(Object.entries(variants));
  const keys = new Map<string, string>(Object.entries(wireKeys));
  const keyOf = (tag: string): string => keys.get(tag) ?? tag;
  const byKey = new Map(Array.from(codecs, ([tag, codec]) => [keyOf(tag), { codec, read: readBy(codec) }]));
  return new Codec<A | U>(
    name,
    (u): u is A | U => isRecord(u) && (unknown.is(u) || (codecs.get(String(u['_tag']))?.is(u) ?? false)),
    (u, why) => {
      if (!isRecord(u)) return wrong(u, why);
      let variant: string | undefined;
      let content: unknown;
      for (const key in u) {
        if (variant !== undefined) {
          if (Object.hasOwn(u, key)) return wrong(u, why);
          break; // what somebody put on the prototype of all objects comes last
        }
        variant = key;
        content = u[key];
      }
      if (variant === undefined) return wrong(u, why);
      const known = byKey.get(variant);
      if (known !== undefined) return known.read(content, why && under(why, variant, known.codec, content));
      const decoded = unknown.decode(variant, content);
      return decoded ?? wrong(content, under(why, named(variant), json, content), unknown.expected);
    },
    (a) => {
      if (unknown.is(a)) return { [a.variant]: a.value };
      return { [keyOf(a._tag)]: codecs.get(a._tag)?.encode(a) };
    },
  );
}

type KeyOf<A> = A extends unknown ? keyof A : never;

/** A one-of of a request, which keeps the wire's form: an object with one of the given keys. */
export function keyed<A extends object>(
  name: string,
  variants: { readonly [K in KeyOf<A>]: t.Type<Extract<A, Record<K, unknown>>[K], unknown> },
): t.Type<A, unknown> {
  const known = new Map<string, t.Type<unknown, unknown>>(Object.entries(variants));
  const read = (u: unknown): readonly [string, unknown, t.Type<unknown, unknown>] | undefined => {
    const [entry, ...more] = isRecord(u) ? Object.entries(u) : [];
    const codec = entry && known.get(entry[0]);
    return codec !== undefined && entry !== undefined && more.length === 0 ? [...entry, codec] : undefined;
  };
  const is = (u: unknown): u is A => {
    const [, content, codec] = read(u) ?? [];
    return codec?.is(content) ?? false;
  };
  return new Codec<A>(
    name,
    is,
    (u, why) => {
      const [key, content, codec] = read(u) ?? [];
      if (key === undefined || codec === undefined)
        return wrong(u, why, `one of the keys ${[...known.keys()].join(', ')}`);
      const value = readBy(codec)(content, under(why, key, codec, content));
      if (value === invalid) return invalid;
      const decoded = { [key]: value };
      return is(decoded) ? decoded : wrong(u, why);
    },
    (a) => {
      const [key, content, codec] = read(a) ?? [];
      return key === undefined ? a : { [key]: codec?.encode(content) };
    },
  );
}

/** The offset that the content of a variant has, in its `value` or beside it. */
export function offsetWithin(content: unknown): Offset | undefined {
  if (!isRecord(content)) return undefined;
  const { value, offset } = content;
  return [isRecord(value) ? value['offset'] : undefined, offset].find(Offset.is);
}

interface Placed<T> {
  readonly _tag: T;
  readonly variant: string;
  readonly offset: Offset;
  readonly value: unknown;
}

/** The variant for what nobody knows but has an offset, by which it can be placed. */
export const unknownAt = <T extends string>(_tag: T): Unknown<Placed<T>> => ({
  is: (u): u is Placed<T> => isRecord(u) && u['_tag'] === _tag && Offset.is(u['offset']),
  decode: (variant, value) => {
    const offset = offsetWithin(value);
    return offset === undefined ? undefined : { _tag, variant, offset, value };
  },
  expected: 'an offset',
});
