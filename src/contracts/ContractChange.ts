import type { OffsetCheckpoint } from '../codecs/OffsetCheckpoint.js';
import type { Reassignment } from '../codecs/Reassignment.js';
import type { Offset, Timestamp } from '../codecs/scalars.js';
import type { Transaction } from '../codecs/Transaction.js';
import type { AnyContract, ContractLocation } from './Contract.js';
import type { ContractSet } from './ContractSet.js';

/**
 * All contracts at an offset. They replace all earlier ones.
 *
 * @category Contracts
 */
export interface Reset<C extends AnyContract = AnyContract> {
  /** The discriminant. */
  readonly _tag: 'Reset';
  /**
   * Why the contracts were read: `'start'` for the first time; `'pruned'` if the ledger was pruned after the last
   * change, or if the participant cannot send the contracts at that offset; `'ledgerReset'` if the ledger is no longer
   * that of the last change, because it was restored or replaced; `'packageFound'` if a package of the query was
   * uploaded.
   */
  readonly reason: 'start' | 'pruned' | 'ledgerReset' | 'packageFound';
  /** The offset of the snapshot. Changes continue after it. */
  readonly offset: Offset;
  /** The contracts, each one once. */
  readonly contracts: readonly C[];
}

/**
 * All changes that one update of the ledger made to the contracts.
 *
 * @category Contracts
 */
export interface ContractsChanged<C extends AnyContract = AnyContract> {
  /** The discriminant. */
  readonly _tag: 'ContractsChanged';
  /** The offset of the update. */
  readonly offset: Offset;
  /** The ID of the update, which is the same on every participant. */
  readonly updateId: string;
  /** The synchronizer of the update. Absent for a reassignment before Canton 3.4. */
  readonly synchronizerId?: string;
  /** When the synchronizer recorded the update. */
  readonly recordTime: Timestamp;
  /**
   * The update as the participant sent it, with its exercises if the query includes them. If `conflate` merged several
   * updates, the last one.
   */
  readonly update: Transaction | Reassignment;
  /** Contracts that were created or became visible. */
  readonly added: readonly C[];
  /** Contracts that were archived or are no longer visible, with their last value. */
  readonly removed: readonly C[];
  /** Contracts that were unassigned, assigned or both, with their previous location. */
  readonly moved: readonly Moved<C>[];
}

/**
 * A contract that was reassigned.
 *
 * @category Contracts
 */
export interface Moved<C extends AnyContract = AnyContract> {
  /** The contract, with its new location. */
  readonly contract: C;
  /** Its previous location. */
  readonly from: ContractLocation;
}

/**
 * Marks that all changes up to the ledger end have been emitted. Later changes are new.
 *
 * @category Contracts
 */
export interface ContractsCaughtUp {
  /** The discriminant. */
  readonly _tag: 'CaughtUp';
  /** The offset up to which every change has been emitted. */
  readonly offset: Offset;
}

/**
 * Marks that the changes lag the ledger by more than a page again.
 *
 * @category Contracts
 */
export interface ContractsFellBehind {
  /** The discriminant. */
  readonly _tag: 'FellBehind';
  /** The offset up to which every change has been emitted. */
  readonly offset: Offset;
}

/**
 * An element of `contractChanges`, a union by `_tag`. Every element has an `offset`: with it, the changes are complete
 * up to that offset. A checkpoint shows that there are no other changes up to its offset.
 *
 * @category Contracts
 */
export type ContractChange<C extends AnyContract = AnyContract> =
  Reset<C> | ContractsChanged<C> | OffsetCheckpoint | ContractsCaughtUp | ContractsFellBehind;

/** Returns how contracts differ: those with the given IDs that were added, removed or moved. */
export function differenceOf<C extends AnyContract>(
  contractIds: Iterable<string>,
  before: Pick<ReadonlyMap<string, C | undefined>, 'get'>,
  after: Pick<ContractSet<C>, 'get'>,
): Pick<ContractsChanged<C>, 'added' | 'removed' | 'moved'> {
  const added: C[] = [];
  const removed: C[] = [];
  const moved: Moved<C>[] = [];
  for (const contractId of contractIds) {
    const former = before.get(contractId);
    const contract = after.get(contractId);
    if (former === contract) continue;
    if (former === undefined) added.push(...(contract ? [contract] : []));
    else if (contract === undefined) removed.push(former);
    else moved.push({ contract, from: former.location });
  }
  return { added, removed, moved };
}
