import type { Ledger } from '../ledger/Ledger.js';

/** What the absent fields of an update made by hand are taken from. */
export interface Fallbacks {
  readonly ledger: Ledger;
  readonly synchronizers: readonly string[];
}
