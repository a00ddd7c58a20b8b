import type { OffsetCheckpoint } from '../codecs/OffsetCheckpoint.js';
import type { Reassignment } from '../codecs/Reassignment.js';
import type { Offset, Timestamp } from '../codecs/scalars.js';
import type { Transaction } from '../codecs/Transaction.js';
import type { AnyContract, ContractLocation } from './Contract.js';

/**
 * All contracts at an offset. They replace those before.
 *
 * @category Contracts
 */
export interface Reset<C extends AnyContract = AnyContract> {
  /** The discriminant. */
  readonly _tag: 'Reset';
  /**
   * Why: the first one; the ledger was pruned after the last change; it ends before it, since it was restored or replaced;
   * a package of the query was uploaded.
   */
  readonly reason: 'start' | 'pruned' | 'ledgerReset' | 'packageFound';
  /** The offset of the snapshot. Changes continue after it. */
  readonly offset: Offset;
  /** The contracts, each once. */
  readonly contracts: readonly C[];
}

/**
 * What one update of the ledger changed, as a whole.
 *
 * @category Contracts
 */
export interface ContractsChanged<C extends AnyContract = AnyContract> {
  /** The discriminant. */
  readonly _tag: 'ContractsChanged';
  /** The offset of the update. */
  readonly offset: Offset;
  /** The id of the update, the same on every participant. */
  readonly updateId: string;
  /** The synchronizer of the update; absent for a reassignment before 3.4. */
  readonly synchronizerId?: string;
  /** When the synchronizer recorded the update. */
  readonly recordTime: Timestamp;
  /** The update as the ledger sent it, with its exercises if the query asks for them; of several that `conflate` merges, the last. */
  readonly update: Transaction | Reassignment;
  /** Contracts that were created, or have become visible. */
  readonly added: readonly C[];
  /** Contracts that were archived, or are no longer visible, with their last value. */
  readonly removed: readonly C[];
  /** Contracts that were unassigned, assigned or both, and where they were before. */
  readonly moved: readonly Moved<C>[];
}

/**
 * A contract that was moved.
 *
 * @category Contracts
 */
export interface Moved<C extends AnyContract = AnyContract> {
  /** The contract, where it is now. */
  readonly contract: C;
  /** Where it was. */
  readonly from: ContractLocation;
}

/**
 * All changes up to the end of the ledger have been emitted. Later ones are new.
 *
 * @category Contracts
 */
export interface ContractsCaughtUp {
  /** The discriminant. */
  readonly _tag: 'CaughtUp';
  /** Every change up to here has been emitted. */
  readonly offset: Offset;
}

/**
 * The changes lag behind the ledger by more than a page again.
 *
 * @category Contracts
 */
export interface ContractsFellBehind {
  /** The discriminant. */
  readonly _tag: 'FellBehind';
  /** Every change up to here has been emitted. */
  readonly offset: Offset;
}

/**
 * An element of `contractChanges`, a union by `_tag`. A checkpoint says that there is no other change up to its offset. Every
 * element has the offset up to which the changes are complete with it.
 *
 * @category Contracts
 */
export type ContractChange<C extends AnyContract = AnyContract> =
  Reset<C> | ContractsChanged<C> | OffsetCheckpoint | ContractsCaughtUp | ContractsFellBehind;
