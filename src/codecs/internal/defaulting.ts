import * as t from 'io-ts';

/** A field that an answer may leave out, with what that means. */
export const defaulting = <A>(codec: t.Type<A, unknown>, value: A): t.Type<A, unknown> =>
  new t.Type<A, unknown>(
    codec.name,
    (u): u is A => codec.is(u),
    (u, context) => (u === undefined || u === null ? t.success(value) : codec.validate(u, context)),
    (a) => codec.encode(a),
  );
