import type { CreatedEvent } from '../codecs/Event.js';
import { isRecord } from '../codecs/internal/Codec.js';
import type { OffsetCheckpoint } from '../codecs/OffsetCheckpoint.js';
import type { Reassignment } from '../codecs/Reassignment.js';
import type { Offset, Timestamp } from '../codecs/scalars.js';
import type { Transaction } from '../codecs/Transaction.js';
import type { Batch, Origin } from '../history/positions.js';
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
 * A change of the contracts: what one update of the ledger did, or, with a `reason`, how the contracts differ from those
 * before although no update changed them. Contracts change in one step in both cases.
 *
 * @category Contracts
 */
export type ContractsChanged<C extends AnyContract = AnyContract> = ContractsUpdated<C> | ContractsReconciled<C>;

/**
 * The difference between two sets of contracts.
 *
 * @category Contracts
 */
export interface ContractsDifference<C extends AnyContract = AnyContract> {
  /** Contracts that were created or became visible. */
  readonly added: readonly C[];
  /** Contracts that were archived or are no longer visible, with their last value. */
  readonly removed: readonly C[];
  /**
   * Contracts that were unassigned, assigned or both, with their previous location. In a change with a `reason`, also
   * contracts that the participant now sends in another form, such as with a view that it can compute by now.
   */
  readonly moved: readonly Moved<C>[];
}

/**
 * All changes that one update of the ledger made to the contracts.
 *
 * @category Contracts
 */
export interface ContractsUpdated<C extends AnyContract = AnyContract> extends ContractsDifference<C> {
  /** The discriminant. */
  readonly _tag: 'ContractsChanged';
  /** Absent. */
  readonly reason?: undefined;
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
}

/**
 * The difference between the contracts as they were followed and the contracts that were read again at the same offset.
 * No update made it, so it has no `update`.
 *
 * @category Contracts
 */
export interface ContractsReconciled<C extends AnyContract = AnyContract> extends ContractsDifference<C> {
  /** The discriminant. */
  readonly _tag: 'ContractsChanged';
  /** Why the contracts were read again. */
  readonly reason: ReconcileReason;
  /** The offset at which they were read: that of the change before it, or of a checkpoint. */
  readonly offset: Offset;
  /** Absent. */
  readonly updateId?: undefined;
  /** Absent. */
  readonly synchronizerId?: undefined;
  /** Absent. */
  readonly recordTime?: undefined;
  /** Absent. */
  readonly update?: undefined;
}

/**
 * Why contracts differ although no update changed them: `'packageFound'` if a package was uploaded through which existing
 * contracts implement an interface of the query; `'appeared'` if earlier updates are visible that were not, for example
 * after a right was granted; `'selectionChanged'` if the query selects other contracts, or more of each, than before. In a live
 * view such a change is empty if other parties see the same contracts: it says that the parties have changed.
 *
 * @category Contracts
 */
export type ReconcileReason = 'packageFound' | 'appeared' | 'selectionChanged';

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

/** An element of the join of snapshot and feed: a `Reset`, or the changes of a page of updates, and the contracts after them. */
export interface ContractsBatch<C extends AnyContract> extends Batch<
  Reset<C> | ContractsChanged<C> | OffsetCheckpoint
> {
  /** The offset up to which the changes are complete. The feed may be before it, if it has gone back. */
  readonly offset: Offset;
  /** The contracts after these changes: the same object as before if they changed none. */
  readonly contracts: ContractSet<C>;
  /** Why the contracts are read again now: they are no longer those of the ledger. Such a batch has no changes. */
  readonly reloads?: Reset['reason'];
  /** Why the contracts are not those that the caller has at this offset. Such a batch has no changes. */
  readonly differs?: ReconcileReason;
  /** Where the changes are in the history of the ledger. */
  readonly origin: Origin;
  /** Whether the feed has continued at other offsets of the same history: those from before mean nothing any more. */
  readonly isMoved?: boolean;
  /** The parties that see the contracts, if they are others than before. */
  readonly parties?: readonly string[] | 'any' | undefined;
}

/** Returns how contracts differ: those with the given IDs that were added, removed or moved. */
export function differenceOf<C extends AnyContract>(
  contractIds: Iterable<string>,
  before: Pick<ReadonlyMap<string, C | undefined>, 'get'>,
  after: Pick<ContractSet<C>, 'get'>,
): ContractsDifference<C> {
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

/** Whether two sets of contracts differ. */
export const isDifference = ({ added, removed, moved }: ContractsDifference): boolean =>
  added.length + removed.length + moved.length > 0;

/**
 * Whether two readings of a contract show the same: its location, its type, and all that the participant renders. What a
 * contract has from its creation, such as its stakeholders, cannot differ; which parties witness an event depends on the
 * event.
 */
export const isSameContract = (a: AnyContract, b: AnyContract): boolean =>
  a.reassignmentCounter === b.reassignmentCounter &&
  (a.type ?? a.expectedType) === (b.type ?? b.expectedType) &&
  isEqual(a.location, b.location) &&
  isEqual(renderingOf(a.createdEvent), renderingOf(b.createdEvent));

/** The fields that the participant renders with each response. */
const renderingOf = ({
  createArgument,
  contractKey,
  createdEventBlob = '',
  interfaceViews,
}: CreatedEvent): unknown[] => [
  createArgument,
  contractKey,
  createdEventBlob,
  Object.fromEntries(interfaceViews.map((view) => [view.interfaceId, [view.viewStatus.code, view.viewValue]])),
];

/** Whether two JSON values are equal; an absent field and an undefined one are, too. */
function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((element, index) => isEqual(element, b[index]));
  if (!isRecord(a) || !isRecord(b)) return false;
  return Object.keys({ ...a, ...b }).every((key) => isEqual(a[key], b[key]));
}
