import type * as t from 'io-ts';
import { Event } from './Event.js';
import { repeated } from './internal/collection.js';
import { optional, tag, text } from './internal/field.js';
import { enveloped, message } from './internal/message.js';
import { TraceContext } from './OffsetCheckpoint.js';
import { Int64, Offset, Timestamp } from './scalars.js';

/** A committed transaction, as far as the request's format shows it. */
export interface Transaction {
  /** The variant. */
  readonly _tag: 'Transaction';
  /** The same on every participant that sees the transaction. */
  readonly updateId: string;
  /** Chosen by the submitter; empty for everybody else. */
  readonly commandId?: string;
  /** Chosen by the submitter, to tie transactions together. */
  readonly workflowId?: string;
  /** The ledger time. */
  readonly effectiveAt: Timestamp;
  /** In execution order; empty where the request's format filters all of them away. */
  readonly events: readonly Event[];
  /** Where the transaction stands on this participant's ledger. */
  readonly offset: Offset;
  /** The synchronizer that ordered the transaction. */
  readonly synchronizerId: string;
  /** The trace in which the transaction was submitted. */
  readonly traceContext?: TraceContext;
  /** When the synchronizer recorded the transaction. */
  readonly recordTime: Timestamp;
  /** Lower-case hex of the hash that an external party signed. */
  readonly externalTransactionHash?: string;
  /** Traffic that the confirmation request cost, in bytes; for the submitting participant alone. Since 3.4.12. */
  readonly paidTrafficCost?: Int64;
  /** Lower-case hex. Since 3.6. */
  readonly transactionHash?: string;
}

/** Codec of `Transaction`, the JsTransaction of the ledger's own documents. */
export const Transaction: t.Type<Transaction, unknown> = message<Transaction>('Transaction', {
  _tag: tag('Transaction'),
  updateId: text,
  commandId: optional(text),
  workflowId: optional(text),
  effectiveAt: Timestamp,
  events: repeated(Event),
  offset: Offset,
  synchronizerId: text,
  traceContext: optional(TraceContext),
  recordTime: Timestamp,
  externalTransactionHash: optional(text),
  paidTrafficCost: optional(Int64),
  transactionHash: optional(text),
});

/** Codec of the answer to a submission, `{"transaction": {...}}`: decodes to the transaction itself. */
export const ExecuteResponse: t.Type<Transaction, unknown> = enveloped('transaction', Transaction);
