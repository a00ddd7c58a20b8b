import type * as t from 'io-ts';
import { Codec, invalid, isRecord, readBy, under, wrong } from './Codec.js';
import { defaulting, text } from './field.js';

/** How many problems of a list are told: of millions, each would take more memory than what it tells of. */
const enough = 100;

/** A list, of at least and at most so many items. */
export function list<A>(
  item: t.Type<A, unknown>,
  least = 0,
  most = Infinity,
  expected = `Array<${item.name}>`,
): t.Type<readonly A[], unknown> {
  const read = readBy(item);
  const fits = (u: unknown): u is readonly unknown[] => Array.isArray(u) && u.length >= least && u.length <= most;
  return new Codec<readonly A[]>(
    `Array<${item.name}>`,
    (u): u is readonly A[] => fits(u) && u.every(item.is),
    (u, why) => {
      if (!fits(u)) return wrong(u, why, expected);
      const decoded: A[] = [];
      const before = why?.errors.length ?? 0;
      for (let i = 0; i < u.length; i += 1) {
        const a = read(u[i], why && under(why, String(i), item, u[i]));
        if (a !== invalid) decoded.push(a);
        else if (why === undefined || why.errors.length - before >= enough) return invalid;
      }
      return decoded.length === u.length ? decoded : invalid;
    },
    (a) => a.map(item.encode),
  );
}

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

/** A list of an answer; absent (3.3 leaves some out) and `null` are the empty list. */
export const repeated = <A>(item: t.Type<A, unknown>): t.Type<readonly A[], unknown> =>
  defaulting<readonly A[]>(list(item), []);

const copied = repeated(text);

/** The strings of an answer, as {@link repeated}: there are many such lists, so they are not copied. */
export const texts: t.Type<readonly string[], unknown> = new Codec<readonly string[]>(
  copied.name,
  copied.is,
  readBy(copied),
  copied.encode,
  { kind: 'texts' },
);
