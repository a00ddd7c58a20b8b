import type { WireReassignmentEvent } from './WireReassignmentEvent.js';
import type { WireTraceContext } from './WireTraceContext.js';

/** Contracts move between synchronizers. */
export interface WireReassignment {
  /** Unique over the network. */
  readonly updateId: string;
  /** The command behind it; served to those who submitted it. */
  readonly commandId: string;
  /** The workflow, `''` without one. */
  readonly workflowId: string;
  /** Where it is on this ledger. */
  readonly offset: number;
  /** What moved. */
  readonly events: readonly WireReassignmentEvent[];
  /** The trace of the submission. */
  readonly traceContext: WireTraceContext | null;
  /** When it was sequenced. */
  readonly recordTime: string;
  /** Where it was sequenced. */
  readonly synchronizerId: string;
  /** What it cost; served to those who submitted it. */
  readonly paidTrafficCost: number | null;
}
