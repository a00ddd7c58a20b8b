import * as t from 'io-ts';
import { Codec, wrong } from './Codec.js';

/** A value that is what it is on the wire; `expected` is what a failure says, `plain` the `typeof` that is enough. */
export const scalar = <A>(
  name: string,
  is: (u: unknown) => u is A,
  expected = name,
  plain?: 'string' | 'boolean',
): t.Type<A> => new Codec<A, A>(name, is, (u, why) => (is(u) ? u : wrong(u, why, expected)), t.identity, plain);
