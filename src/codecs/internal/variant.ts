import type * as t from 'io-ts';
import { Offset } from '../scalars.js';
import { atKey, Codec, fail, invalid, isRecord, readerOf } from './Codec.js';
import { json } from './field.js';

interface Tagged {
  readonly _tag: string;
}

/** A variant that this version does not know, undecoded. */
interface Undecoded<T extends string = string> {
  readonly _tag: T;
  readonly variant: string;
  readonly value: unknown;
}

/** The decoder of the variants of a one-of that this version does not know. */
export interface UnknownVariant<U extends Undecoded> {
  readonly is: (u: unknown) => u is U;
  /** Returns `undefined` if the content lacks what `expected` describes. */
  readonly decode: (variant: string, content: unknown) => U | undefined;
  readonly expected: string;
}

/**
 * A one-of on the wire: an object with one key, the name of the variant. It decodes to the variant with its `_tag`.
 * `unknown` decodes keys that are not listed, so that a newer ledger does not end a feed.
 *
 * @param wireKeys - the keys on the wire of those variants whose key is not their `_tag`
 */
export function oneOf<A extends Tagged, U extends Undecoded>(
  name: string,
  variants: { readonly [T in A['_tag']]: t.Type<Extract<A, { readonly _tag: T }>, unknown> },
  unknown: UnknownVariant<U>,
  wireKeys: Readonly<Record<string, string>> = {},
): t.Type<A | U, unknown> {
  const keyOf = (tag: string): string => wireKeys[tag] ?? tag;
  const codecs: readonly [string, t.Type<A, unknown>][] = Object.entries(variants);
  const byKey = new Map(codecs.map(([tag, codec]) => [keyOf(tag), { codec, read: readerOf(codec) }]));
  return new Codec<A | U>(
    name,
    (u): u is A | U => isRecord(u) && (unknown.is(u) || (byKey.get(keyOf(String(u['_tag'])))?.codec.is(u) ?? false)),
    (u, sink) => {
      if (!isRecord(u)) return fail(u, sink);
      let variant: string | undefined;
      let content: unknown;
      for (const key in u) {
        if (variant !== undefined) {
          if (Object.hasOwn(u, key)) return fail(u, sink);
          break; // enumerable properties of Object.prototype come last
        }
        variant = key;
        content = u[key];
      }
      if (variant === undefined) return fail(u, sink);
      const known = byKey.get(variant);
      if (known !== undefined) return known.read(content, sink && atKey(sink, variant, known.codec, content));
      const decoded = unknown.decode(variant, content);
      return decoded ?? fail(content, atKey(sink, printable(variant), json, content), unknown.expected);
    },
    (a) => {
      if (unknown.is(a)) return { [a.variant]: a.value };
      const key = keyOf(a._tag);
      return { [key]: byKey.get(key)?.codec.encode(a) };
    },
  );
}

/** The name of a variant in a problem. A key that is not a name could be text of any length. */
const printable = (variant: string): string => (/^\w{1,80}$/.test(variant) ? variant : '…');

type KeyOf<A> = A extends unknown ? keyof A : never;

/** A one-of in a request, which keeps its wire format: an object with one of the given keys. */
export function oneOfKeys<A extends object>(
  name: string,
  variants: { readonly [K in KeyOf<A>]: t.Type<Extract<A, Record<K, unknown>>[K], unknown> },
): t.Type<A, unknown> {
  const known = new Map<string, t.Type<unknown, unknown>>(Object.entries(variants));
  const entryOf = (u: unknown): readonly [string, unknown, t.Type<unknown, unknown>] | undefined => {
    const [entry, ...more] = isRecord(u) ? Object.entries(u) : [];
    const codec = entry && known.get(entry[0]);
    return codec !== undefined && entry !== undefined && more.length === 0 ? [...entry, codec] : undefined;
  };
  const is = (u: unknown): u is A => {
    const [, content, codec] = entryOf(u) ?? [];
    return codec?.is(content) ?? false;
  };
  return new Codec<A>(
    name,
    is,
    (u, sink) => {
      const [key, content, codec] = entryOf(u) ?? [];
      if (key === undefined || codec === undefined)
        return fail(u, sink, `one of the keys ${[...known.keys()].join(', ')}`);
      const value = readerOf(codec)(content, atKey(sink, key, codec, content));
      if (value === invalid) return invalid;
      const decoded = { [key]: value };
      return is(decoded) ? decoded : fail(u, sink);
    },
    (a) => {
      const [key, content, codec] = entryOf(a) ?? [];
      return key === undefined ? a : { [key]: codec?.encode(content) };
    },
  );
}

/** Keeps any unknown variant. */
export const unknownVariant = <T extends string>(_tag: T): UnknownVariant<Undecoded<T>> => ({
  is: (u): u is Undecoded<T> => isRecord(u) && u['_tag'] === _tag,
  decode: (variant, value) => ({ _tag, variant, value }),
  expected: 'anything',
});

interface WithOffset<T extends string> extends Undecoded<T> {
  readonly offset: Offset;
}

/** Keeps an unknown variant that has an offset in its content, and thus a position in the feed. */
export const unknownWithOffset = <T extends string>(_tag: T): UnknownVariant<WithOffset<T>> => ({
  is: (u): u is WithOffset<T> => isRecord(u) && u['_tag'] === _tag && Offset.is(u['offset']),
  decode: (variant, value) => {
    const offset = findOffset(value);
    return offset === undefined ? undefined : { _tag, variant, offset, value };
  },
  expected: 'an offset',
});

/** Returns the offset in the content of a variant, in its `value` or next to it. */
export function findOffset(content: unknown): Offset | undefined {
  if (!isRecord(content)) return undefined;
  const { value, offset } = content;
  return [isRecord(value) ? value['offset'] : undefined, offset].find(Offset.is);
}
