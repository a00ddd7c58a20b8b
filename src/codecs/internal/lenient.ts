import * as t from 'io-ts';

/**
 * A field that may be absent, or `null` as the wire writes it; both decode to `instead`. A decoded value may have
 * `absent` there.
 */
export const lenient = <A, B>(
  codec: t.Type<A, unknown>,
  instead: B,
  ...absent: readonly unknown[]
): t.Type<A | B, unknown> =>
  new t.Type<A | B, unknown>(
    codec.name,
    (u): u is A | B => absent.includes(u) || codec.is(u),
    (u, context) => (u === undefined || u === null ? t.success(instead) : codec.validate(u, context)),
    (a) => {
      const present = a ?? instead;
      return codec.is(present) ? codec.encode(present) : undefined;
    },
  );
