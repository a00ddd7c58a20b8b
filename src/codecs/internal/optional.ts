import * as t from 'io-ts';

/** A field that may be absent; the wire writes `null` for it. Both decode to an absent field. */
export const optional = <A>(codec: t.Type<A, unknown>): t.Type<A | undefined, unknown> =>
  new t.Type<A | undefined, unknown, unknown>(
    codec.name,
    (u): u is A | undefined => u === undefined || codec.is(u),
    (u, context) => (u === undefined || u === null ? t.success(undefined) : codec.validate(u, context)),
    (a) => (a === undefined ? undefined : codec.encode(a)),
  );
