import type { WireTopologyEvent } from './WireTopologyEvent.js';
import type { WireTraceContext } from './WireTraceContext.js';

/** A change of topology. */
export interface WireTopologyTransaction {
  /** Unique over the network. */
  readonly updateId: string;
  /** What changed. */
  readonly events: readonly WireTopologyEvent[];
  /** Where it is on this ledger. */
  readonly offset: number;
  /** Where it was sequenced. */
  readonly synchronizerId: string;
  /** The trace of the change. */
  readonly traceContext: WireTraceContext | null;
  /** When it was sequenced. */
  readonly recordTime: string;
}
