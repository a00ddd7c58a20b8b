import type * as t from 'io-ts';
import { Event } from './Event.js';
import { list } from './internal/collection.js';
import { optional, tag, text } from './internal/field.js';
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
  /** The same on every participant that sees the transaction. */
  readonly updateId: string;
  /** Chosen by the submitter; empty for all other readers. */
  readonly commandId?: string;
  /** Chosen by the submitter, to group transactions. */
  readonly workflowId?: string;
  /** The ledger time. */
  readonly effectiveAt: Timestamp;
  /** In execution order; empty if the request's format selects none of them. */
  readonly events: readonly Event[];
  /** Its position on this participant's ledger. */
  readonly offset: Offset;
  /** The synchronizer that ordered the transaction. */
  readonly synchronizerId: string;
  /** The trace context of the submission. */
  readonly traceContext?: TraceContext;
  /** When the synchronizer recorded the transaction. */
  readonly recordTime: Timestamp;
  /** Lower-case hex of the hash that an external party signed. */
  readonly externalTransactionHash?: string;
  /** The traffic that the confirmation request cost, in bytes; only for the submitting participant. Since 3.4.12. */
  readonly paidTrafficCost?: Int64;
  /** Lower-case hex. Since 3.6. */
  readonly transactionHash?: string;
}

/**
 * Codec of `Transaction`, `JsTransaction` in the ledger's documentation. The list of events is required, because every
 * participant sends it: a transaction without it is from another endpoint, which has the events under another key.
 *
 * @category Updates
 */
export const Transaction: t.Type<Transaction, unknown> = message<Transaction>('Transaction', {
  _tag: tag('Transaction'),
  updateId: text,
  commandId: optional(text),
  workflowId: optional(text),
  effectiveAt: Timestamp,
  events: list(Event),
  offset: Offset,
  synchronizerId: text,
  traceContext: optional(TraceContext),
  recordTime: Timestamp,
  externalTransactionHash: optional(text),
  paidTrafficCost: optional(Int64),
  transactionHash: optional(text),
});

/**
 * Codec of the answer to a submission, `{"transaction": {...}}`: decodes to the transaction itself.
 *
 * @category Submission
 */
export const ExecuteResponse: t.Type<Transaction, unknown> = envelope('transaction', Transaction);
