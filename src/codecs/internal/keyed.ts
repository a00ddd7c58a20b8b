import * as t from 'io-ts';
import { isRecord } from './isRecord.js';

type KeyOf<A> = A extends unknown ? keyof A : never;

/** A one-of of a request, which keeps the wire's form: an object with one of the given keys. */
export function keyed<A extends object>(
  name: string,
  variants: { readonly [K in KeyOf<A>]: t.Type<Extract<A, Record<K, unknown>>[K], unknown> },
): t.Type<A, unknown> {
  const known = new Map<string, t.Type<unknown, unknown>>(Object.entries(variants));
  const only = (u: unknown): readonly [string, unknown] | undefined => {
    const [entry, ...more] = isRecord(u) ? Object.entries(u) : [];
    return more.length === 0 ? entry : undefined;
  };
  const is = (u: unknown): u is A => {
    const entry = only(u);
    return entry !== undefined && (known.get(entry[0])?.is(entry[1]) ?? false);
  };
  return new t.Type<A, unknown, unknown>(
    name,
    is,
    (u, context) => {
      const [key, content] = only(u) ?? [];
      const codec = key === undefined ? undefined : known.get(key);
      if (key === undefined || codec === undefined)
        return t.failure(u, context, `one of the keys ${[...known.keys()].join(', ')}`);
      const result = codec.validate(content, t.appendContext(context, key, codec, content));
      if (result._tag === 'Left') return result;
      const decoded = { [key]: result.right };
      return is(decoded) ? t.success(decoded) : t.failure(u, context);
    },
    (a) => {
      const [key, content] = only(a) ?? [];
      return key === undefined ? {} : { [key]: known.get(key)?.encode(content) };
    },
  );
}
