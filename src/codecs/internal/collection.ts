import type * as t from 'io-ts';
import { atKey, Codec, fail, invalid, isRecord, readerOf } from './Codec.js';
import { lenient, text } from './field.js';

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

const copiedTexts = repeated(text);

/**
 * A list of strings in a response, like {@link repeated}. A valid list is not copied, because an update has many lists.
 */
export const texts: t.Type<readonly string[], unknown> = new Codec<readonly string[]>(
  copiedTexts.name,
  copiedTexts.is,
  readerOf(copiedTexts),
  copiedTexts.encode,
  { kind: 'texts' },
);
