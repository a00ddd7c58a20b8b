import type * as t from 'io-ts';
import { Codec, plainOf, readBy } from './Codec.js';

/**
 * A field that may be absent, or `null` as the wire writes it; both decode to `instead`. A decoded value may have
 * `absent` there.
 */
export function lenient<A, B>(
  codec: t.Type<A, unknown>,
  instead: B,
  ...absent: readonly unknown[]
): t.Type<A | B, unknown> {
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
