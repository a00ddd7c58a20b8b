import * as t from 'io-ts';
import { Codec, wrong } from './Codec.js';
import type { Plain } from './Plain.js';

/** A value that is what it is on the wire; `expected` is what a failure says, `plain` what needs no call of `is`. */
export const scalar = <A>(name: string, is: (u: unknown) => u is A, expected = name, plain?: Plain): t.Type<A> =>
  new Codec<A, A>(name, is, (u, why) => (is(u) ? u : wrong(u, why, expected)), t.identity, plain);
