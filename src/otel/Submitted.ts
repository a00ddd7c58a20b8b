import type { Transaction } from '../codecs/Transaction.js';

/** What has come of a submission; nothing where its subscriber has left. */
export interface Submitted {
  readonly transaction?: Transaction;
  readonly error?: unknown;
}
