import type { WireUpdate } from '../wire/WireUpdate.js';

/** An update to commit. */
export interface LedgerEntry {
  readonly update: WireUpdate;
  /** The parties that submitted it, if that is known. */
  readonly submitters?: readonly string[];
}
