import * as t from 'io-ts';

/** A field of a request that may be absent or `null`; it is not sent then. */
export const nullable = <A>(codec: t.Type<A, unknown>): t.Type<A | null | undefined, unknown> =>
  new t.Type<A | null | undefined, unknown, unknown>(
    codec.name,
    (u): u is A | null | undefined => u === undefined || u === null || codec.is(u),
    (u, context) => (u === undefined || u === null ? t.success(undefined) : codec.validate(u, context)),
    (a) => (a === undefined || a === null ? undefined : codec.encode(a)),
  );
