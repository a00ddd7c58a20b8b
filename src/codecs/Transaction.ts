import type * as t from 'io-ts';
import { TransactionEvent } from './Event.js';
import { list, optional, tag, text } from './internal/field.js';
import { envelope, message } from './internal/message.js';
import { TraceContext } from './OffsetCheckpoint.js';
import { Int64, Offset, Timestamp } from './scalars.js';

/**
 * A committed transaction, with the events that the request's format selects.
 *
 * @category Updates
 */
export interface Transaction {
  /** The variant. */
  readonly _tag: 'Transaction';
  /** The id of the update: the same on every participant that sees it. */
  readonly updateId: string;
  /** The command id that the submitter chose; empty for all other readers. */
  readonly commandId?: string;
  /** The workflow id that the submitter chose to group transactions. */
  readonly workflowId?: string;
  /** The ledger time. */
  readonly effectiveAt: Timestamp;
  /** The events in execution order; empty if the request's format selects none of them. */
  readonly events: readonly TransactionEvent[];
  /** The transaction's position on this participant's ledger. */
  readonly offset: Offset;
  /** The synchronizer that ordered the transaction. */
  readonly synchronizerId: string;
  /** The trace context of the submission. */
  readonly traceContext?: TraceContext;
  /** When the synchronizer recorded the transaction. */
  readonly recordTime: Timestamp;
  /** The hash that an external party signed, in lower-case hex. */
  readonly externalTransactionHash?: string;
  /** The traffic cost of the confirmation request, in bytes; only on the submitting participant. Since 3.4.12. */
  readonly paidTrafficCost?: Int64;
  /** The hash of the transaction, in lower-case hex. Since 3.6. */
  readonly transactionHash?: string;
}

/**
 * Codec of `Transaction`, `JsTransaction` in the ledger's documentation. It requires the list of events, because every
 * participant sends it. A transaction without the list comes from another endpoint, which sends the events under
 * another key.
 *
 * @category Updates
 */
export const Transaction: t.Type<Transaction, unknown> = message<Transaction>('Transaction', {
  _tag: tag('Transaction'),
  updateId: text,
  commandId: optional(text),
  workflowId: optional(text),
  effectiveAt: Timestamp,
  events: list(TransactionEvent),
  offset: Offset,
  synchronizerId: text,
  traceContext: optional(TraceContext),
  recordTime: Timestamp,
  externalTransactionHash: optional(text),
  paidTrafficCost: optional(Int64),
  transactionHash: optional(text),
});

/**
 * The transaction of a submission.
 *
 * @category Submission
 */
export interface SubmittedTransaction extends Transaction {
  /**
   * Set if the last attempt did not commit the transaction itself: an earlier attempt of this change did, or another
   * submission with the same command id. The participant does not compare the commands of the two. If you choose command ids
   * yourself and this is the first attempt, check that the transaction does what you wanted.
   */
  readonly isRepeated?: true;
}

/** Codec of the response to a submission, `{"transaction": {...}}`. It decodes to the transaction itself. */
export const ExecuteResponse: t.Type<Transaction, unknown> = envelope('transaction', Transaction);

/** The end of a command: it was committed, or rejected. */
interface Completion {
  /** The offset of the completion, which is that of the transaction if there is one. */
  readonly offset: Offset;
}

/** The completions of all attempts to execute a signed transaction. Since 3.6. */
export interface CompletionsByHash {
  /** Absent if no attempt that the participant knows of was committed. */
  readonly acceptedCompletion?: Completion;
}

const Completion = message<Completion>('Completion', { offset: Offset });

/** Codec of the response to a look-up by hash. */
export const CompletionsByHash: t.Type<CompletionsByHash, unknown> = message<CompletionsByHash>('CompletionsByHash', {
  acceptedCompletion: optional(Completion),
});
