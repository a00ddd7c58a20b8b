import type * as t from 'io-ts';
import { Codec, invalid, readBy, under, wrong } from './Codec.js';
import { isRecord } from './isRecord.js';

/**
 * A map of a request. Unlike `t.record`, which drops an entry whose key does not decode, it refuses the key: a party's
 * filter must not be lost without a word.
 */
export function mapOf<A>(
  key: t.Type<string, string>,
  value: t.Type<A, unknown>,
): t.Type<Readonly<Record<string, A>>, unknown> {
  const readKey = readBy(key);
  const readValue = readBy(value);
  return new Codec<Readonly<Record<string, A>>>(
    `{ [${key.name}]: ${value.name} }`,
    (u): u is Readonly<Record<string, A>> =>
      isRecord(u) && Object.entries(u).every(([k, content]) => key.is(k) && value.is(content)),
    (u, why) => {
      if (!isRecord(u)) return wrong(u, why);
      const decoded: [string, A][] = [];
      const entries = Object.entries(u);
      for (const [k, content] of entries) {
        const name = readKey(k, under(why, k, key, k));
        const a = readValue(content, under(why, k, value, content));
        if (name !== invalid && a !== invalid) decoded.push([k, a]);
      }
      return decoded.length === entries.length ? Object.fromEntries(decoded) : invalid;
    },
    (a) => Object.fromEntries(Object.entries(a).map(([k, content]) => [k, value.encode(content)])),
  );
}
