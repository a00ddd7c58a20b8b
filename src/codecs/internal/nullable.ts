import type * as t from 'io-ts';
import { lenient } from './lenient.js';

/** A field of a request that may be absent or `null`; it is not sent then. */
export const nullable = <A>(codec: t.Type<A, unknown>): t.Type<A | null | undefined, unknown> =>
  lenient<A, null | undefined>(codec, undefined, undefined, null);
