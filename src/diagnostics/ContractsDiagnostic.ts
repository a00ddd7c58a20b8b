import type { Problem } from '../codecs/Problem.js';
import type { Offset } from '../codecs/scalars.js';
import type { LedgerError } from '../errors/LedgerError.js';

/** A diagnostic of the active contracts, beside those of their feed. */
export type ContractsDiagnostic =
  SnapshotStarted | SnapshotPageReceived | SnapshotRestarted | SnapshotCompleted | ContractUndecoded | TypesUnknown;

/** A snapshot of the active contracts is read. Reported again if the service does not serve it in this way. */
export interface SnapshotStarted {
  /** Discriminates the union. */
  readonly _tag: 'SnapshotStarted';
  /** The offset of the snapshot; absent if the service does not serve its ledger end, and chooses the offset itself. */
  readonly offset?: Offset;
  /**
   * How it is read: in pages; in lists, each of which continues the one before; by a WebSocket; or from all updates up to the
   * offset, because the service can list only a part.
   */
  readonly by: 'pages' | 'lists' | 'socket' | 'updates';
}

/** A part of a snapshot was received. */
export interface SnapshotPageReceived {
  /** Discriminates the union. */
  readonly _tag: 'SnapshotPageReceived';
  /** The number of entries, or of updates where the snapshot is made of them; 1 for an element of a WebSocket. */
  readonly count: number;
  /** The same, so far. */
  readonly total: number;
  /** The time since the previous part, in milliseconds. */
  readonly durationMs: number;
}

/** A snapshot begins again, because it cannot be completed. What it has brought is dropped. */
export interface SnapshotRestarted {
  /** Discriminates the union. */
  readonly _tag: 'SnapshotRestarted';
  /** The reason. */
  readonly cause: LedgerError;
  /** The delay before it begins again, in milliseconds. */
  readonly delayMs: number;
}

/** A snapshot is complete. */
export interface SnapshotCompleted {
  /** Discriminates the union. */
  readonly _tag: 'SnapshotCompleted';
  /** The offset of the snapshot. */
  readonly offset: Offset;
  /** The number of entries, or of updates where it is made of them. */
  readonly count: number;
  /** The time since the snapshot began, for the last time, in milliseconds. */
  readonly durationMs: number;
}

/** The payload of a contract does not decode. The contract is an `UndecodedContract`. */
export interface ContractUndecoded {
  /** Discriminates the union. */
  readonly _tag: 'ContractUndecoded';
  /** The contract. */
  readonly contractId: string;
  /** The name of its type in the query. */
  readonly expectedType: string;
  /** Why it does not decode, without any value. */
  readonly problems: readonly Problem[];
}

/** The participant does not know some types of a query. Its contracts are read without them until it does. */
export interface TypesUnknown {
  /** Discriminates the union. */
  readonly _tag: 'TypesUnknown';
  /** The names of the types in the query. */
  readonly types: readonly string[];
  /** When the participant is asked again, in milliseconds from now. */
  readonly retryInMs: number;
}
