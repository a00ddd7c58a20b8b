import * as t from 'io-ts';

/** A field of a request that may be left out by the caller and is sent all the same: 3.3 wants every scalar. */
export const withDefault = <A>(codec: t.Type<A, unknown>, value: A): t.Type<A | null | undefined, unknown> =>
  new t.Type<A | null | undefined, unknown, unknown>(
    codec.name,
    (u): u is A | null | undefined => u === undefined || u === null || codec.is(u),
    (u, context) => (u === undefined || u === null ? t.success(value) : codec.validate(u, context)),
    (a) => codec.encode(a ?? value),
  );
