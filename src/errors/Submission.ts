import type { Base64 } from '../codecs/Base64.js';
import type { Offset } from '../codecs/Offset.js';
import type { Party } from '../codecs/Party.js';

/** Which submission an error is about; enough to find out on the ledger what became of it. */
export interface Submission {
  /** Of the first try; each further one has its own. */
  readonly submissionId: string;
  /** The user that submitted; empty for the one whom the token names. */
  readonly userId: string;
  /** The parties that signed. */
  readonly parties: readonly Party[];
  /** When it was sent first, in milliseconds since the epoch, by this machine's clock. */
  readonly sentAt: number;
  /** The ledger end before it was sent: what it committed lies after this. Absent where the service did not tell. */
  readonly beginExclusive?: Offset;
  /** The hash that was signed, where the caller told it; the transaction's `externalTransactionHash` is this, in hex. */
  readonly transactionHash?: Base64;
  /** How many times it was sent. */
  readonly attempts: number;
}
