import type * as t from 'io-ts';
import { Codec, readBy, under, wrong } from './Codec.js';
import { isRecord } from './isRecord.js';

/** What stands alone under one key: `{"value": content}`, `{"update": content}`. Decodes to the content. */
export function enveloped<A>(key: string, codec: t.Type<A, unknown>): t.Type<A, unknown> {
  const read = readBy(codec);
  return new Codec<A>(
    `{ ${key}: ${codec.name} }`,
    (u): u is A => codec.is(u),
    (u, why) => (isRecord(u) ? read(u[key], under(why, key, codec, u[key])) : wrong(u, why)),
    (a) => ({ [key]: codec.encode(a) }),
  );
}
