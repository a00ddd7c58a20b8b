import type * as t from 'io-ts';
import { whole } from './internal/whole.js';

/**
 * A place on one participant's ledger: a whole number from 0, the ledger's begin. Offsets ascend with gaps, and those of
 * two participants have nothing to do with each other. An int64 on the wire; beyond 2^53 - 1 it would be rounded by
 * `JSON.parse`, so such a number is refused.
 *
 * @example
 * ```ts
 * import { Offset } from 'canton-rx';
 *
 * Offset.is(42); // true
 * Offset.is(2 ** 53); // false
 * ```
 */
export type Offset = number;

/** Codec of `Offset`. */
export const Offset: t.Type<Offset> = whole('Offset', 0, Infinity, 'a whole number from 0 to 2^53 - 1');
