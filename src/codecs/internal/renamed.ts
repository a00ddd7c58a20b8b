import type * as t from 'io-ts';
import { Codec, readBy } from './Codec.js';
import { isRecord } from './isRecord.js';

/** Takes a field's former name for the one it has now, where only the former is there. */
export function renamed<A>(former: string, now: string, codec: t.Type<A, unknown>): t.Type<A, unknown> {
  const read = readBy(codec);
  return new Codec<A>(
    codec.name,
    (u): u is A => codec.is(u),
    (u, why) => {
      if (!isRecord(u) || !(former in u) || now in u) return read(u, why);
      const { [former]: value, ...others } = u;
      return read({ ...others, [now]: value }, why);
    },
    (a) => codec.encode(a),
  );
}
