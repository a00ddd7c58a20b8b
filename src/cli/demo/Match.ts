import type { Transaction } from '../../codecs/Transaction.js';

/** A committed transaction, and the same as the feed has it. */
export interface Match {
  readonly committed: Transaction;
  readonly seen: Transaction;
}
