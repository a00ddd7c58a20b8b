import type { TransactionFormat } from '../formats/TransactionFormat.js';
import type { Accepted } from './Accepted.js';
import type { PartySignature } from './PartySignature.js';

/** The body of an execute request, as read. */
export interface Execution {
  readonly preparedTransaction: Buffer;
  readonly signatures: readonly PartySignature[];
  readonly isDuplicate: (earlier: Accepted) => boolean;
  readonly submissionId: string;
  readonly userId: string;
  readonly hashingSchemeVersion: string;
  /** In microseconds since the epoch. */
  readonly minLedgerTime: number | undefined;
  readonly format: TransactionFormat | undefined;
}
