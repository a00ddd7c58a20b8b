import type { WireEvent } from './WireEvent.js';
import type { WireTraceContext } from './WireTraceContext.js';

/** A transaction as it is kept: all events of both shapes, all fields. */
export interface WireTransaction {
  /** Unique over the network. */
  readonly updateId: string;
  /** The command behind it; served to those who submitted it. */
  readonly commandId: string;
  /** The workflow, `''` without one. */
  readonly workflowId: string;
  /** The ledger time. */
  readonly effectiveAt: string;
  /** Ascending by node id. */
  readonly events: readonly WireEvent[];
  /** Where it is on this ledger. */
  readonly offset: number;
  /** Where it was sequenced. */
  readonly synchronizerId: string;
  /** The trace of the submission. */
  readonly traceContext: WireTraceContext | null;
  /** When it was sequenced. */
  readonly recordTime: string;
  /** What the external party signed, in hex. */
  readonly externalTransactionHash: string | null;
  /** What it cost; served to those who submitted it. */
  readonly paidTrafficCost: number | null;
  /** The hash of the transaction in hex; served from 3.6 on. */
  readonly transactionHash: string | null;
}
