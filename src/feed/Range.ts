import type { Offset } from '../codecs/Offset.js';

/** A range of the ledger, and which way to read it. */
export interface Range {
  readonly beginExclusive: Offset;
  readonly endInclusive?: Offset;
  readonly descendingOrder?: boolean;
}
