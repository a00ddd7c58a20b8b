import type * as t from 'io-ts';
import { lenient } from './lenient.js';

/** A field of a request that may be left out by the caller and is sent all the same: 3.3 wants every scalar. */
export const withDefault = <A>(codec: t.Type<A, unknown>, value: A): t.Type<A | null | undefined, unknown> =>
  lenient<A, A | null | undefined>(codec, value, undefined, null);
