import type { ContractEntry } from '../../codecs/ContractEntry.js';
import type { Offset } from '../../codecs/scalars.js';
import type { EventFormat } from '../../codecs/UpdateFormat.js';

/** A part of a snapshot. */
export type SnapshotPart = SnapshotStarted | SnapshotEntries | SnapshotCompleted;

/** A snapshot begins. What another one before it has brought must be dropped. */
export interface SnapshotStarted {
  readonly _tag: 'SnapshotStarted';
}

/** Some entries of the snapshot that has begun. */
export interface SnapshotEntries {
  readonly _tag: 'SnapshotEntries';
  readonly entries: readonly ContractEntry[];
}

/** The snapshot is complete: nothing is missing. The last part. */
export interface SnapshotCompleted {
  readonly _tag: 'SnapshotCompleted';
  /** The offset of the snapshot. */
  readonly offset: Offset;
}

/** The snapshot to read. */
export interface SnapshotRequest {
  readonly eventFormat: EventFormat;
  /** `undefined`: at the ledger end, and again at a later one if the snapshot cannot be completed. */
  readonly activeAtOffset: Offset | undefined;
}
