import type * as t from 'io-ts';
import { lenient } from './lenient.js';

/** A field of an answer that may be absent. */
export const optional = <A>(codec: t.Type<A, unknown>): t.Type<A | undefined, unknown> =>
  lenient(codec, undefined, undefined);
