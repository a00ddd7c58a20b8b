import * as t from 'io-ts';
import { isRecord } from './isRecord.js';

/** Takes a field's former name for the one it has now, where only the former is there. */
export const renamed = <A>(former: string, now: string, codec: t.Type<A, unknown>): t.Type<A, unknown> =>
  new t.Type<A, unknown, unknown>(
    codec.name,
    (u): u is A => codec.is(u),
    (u, context) => {
      if (!isRecord(u) || !(former in u) || now in u) return codec.validate(u, context);
      const { [former]: value, ...others } = u;
      return codec.validate({ ...others, [now]: value }, context);
    },
    (a) => codec.encode(a),
  );
