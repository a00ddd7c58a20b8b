import * as t from 'io-ts';

/** One of the given strings. */
export const oneOfStrings = <S extends string>(name: string, ...values: readonly S[]): t.Type<S, S> => {
  const is = (u: unknown): u is S => values.some((value) => value === u);
  return new t.Type<S, S, unknown>(
    name,
    is,
    (u, context) => (is(u) ? t.success(u) : t.failure(u, context, `one of ${values.join(', ')}`)),
    t.identity,
  );
};
