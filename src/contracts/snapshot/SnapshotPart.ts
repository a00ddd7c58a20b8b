import type { ContractEntry } from '../../codecs/ContractEntry.js';
import type { Offset } from '../../codecs/scalars.js';
import type { EventFormat } from '../../codecs/UpdateFormat.js';
import type { Page } from '../../feed/Page.js';

/** A part of a snapshot. */
export type SnapshotPart = SnapshotStarted | SnapshotEntries | SnapshotUpdates | SnapshotCompleted;

/** A snapshot begins. Parts of an earlier attempt must be dropped. */
interface SnapshotStarted {
  readonly _tag: 'SnapshotStarted';
}

/** Some entries of the snapshot that has begun. */
interface SnapshotEntries {
  readonly _tag: 'SnapshotEntries';
  readonly entries: readonly ContractEntry[];
}

/**
 * Updates from the beginning of the ledger, for a participant that serves no snapshots: the contracts that remain
 * active after them are the snapshot.
 */
interface SnapshotUpdates {
  readonly _tag: 'SnapshotUpdates';
  readonly updates: Page['updates'];
}

/** The snapshot is complete. This is the last part. */
interface SnapshotCompleted {
  readonly _tag: 'SnapshotCompleted';
  /** The offset of the snapshot. */
  readonly offset: Offset;
}

/** The snapshot to read. */
export interface SnapshotRequest {
  readonly eventFormat: EventFormat;
  /** `undefined` to read at the ledger end, and again at a later one if the snapshot cannot be completed. */
  readonly activeAtOffset?: Offset | undefined;
  /** The offset that the ledger end must have reached, because a replica may lag. */
  readonly notBefore?: Offset | undefined;
}
