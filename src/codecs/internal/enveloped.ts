import type * as t from 'io-ts';
import { Codec, readBy, under, wrong } from './Codec.js';
import { isRecord } from './isRecord.js';

/** What stands alone under one key: `{"value": content}`, `{"update": content}`. Decodes to the content. */
export function enveloped<A>(key: string, codec: t.Type<A, unknown>): t.Type<A, unknown> {
  const read = readBy(codec);
  return new Codec<A>(
    `{ ${key}: ${codec.name} }`,
    (u): u is A => codec.is(u),
    (u, why) => {
      if (!isRecord(u)) return wrong(u, why);
      let content: unknown;
      // what the engine enumerates it reads at once; asked for by name, among objects of many kinds, it searches
      for (const name in u) if (name === key) content = u[name];
      return read(content, why && under(why, key, codec, content));
    },
    (a) => ({ [key]: codec.encode(a) }),
  );
}
