import * as t from 'io-ts';

/** A value that is what it is on the wire; `expected` is what a failure says. */
export const scalar = <A>(name: string, is: (u: unknown) => u is A, expected = name): t.Type<A> =>
  new t.Type<A>(name, is, (u, context) => (is(u) ? t.success(u) : t.failure(u, context, expected)), t.identity);
