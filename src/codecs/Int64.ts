import * as t from 'io-ts';

/** A whole number, int32 or int64 on the wire, between -(2^53 - 1) and 2^53 - 1. */
export type Int64 = number;

/** Codec of {@link (Int64:type)}. A number that `JSON.parse` may have rounded is a failure. */
export const Int64: t.Type<Int64, Int64> = new t.Type(
  'Int64',
  (u): u is Int64 => typeof u === 'number' && Number.isSafeInteger(u),
  (u, context) =>
    typeof u === 'number' && Number.isSafeInteger(u)
      ? t.success(u)
      : t.failure(u, context, 'Int64, a whole number within 2^53 - 1'),
  t.identity,
);
