import type * as t from 'io-ts';
import { Codec, invalid, readBy, under, wrong } from './Codec.js';
import { isRecord } from './isRecord.js';

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
