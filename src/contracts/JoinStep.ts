import type { OffsetCheckpoint } from '../codecs/OffsetCheckpoint.js';
import type { Offset } from '../codecs/scalars.js';
import type { PageHistory } from '../feed/LedgerFeed.js';
import type { AnyContract } from './Contract.js';
import type { ContractsChanged, ReconcileReason, Reset } from './ContractChange.js';
import type { ContractSet } from './ContractSet.js';

/** One step of the join of snapshot and feed: a `Reset`, or the changes of a page of updates. */
export interface JoinStep<C extends AnyContract> {
  /** The changes, in order. */
  readonly changes: readonly (Reset<C> | ContractsChanged<C> | OffsetCheckpoint)[];
  /** The offset up to which the changes are complete. */
  readonly offset: Offset;
  /** Whether that is the ledger end, as far as it is known. */
  readonly isCaughtUp: boolean;
  /** The contracts after these changes: the same object as before if they changed none. */
  readonly contracts: ContractSet<C>;
  /** Why the contracts are read again now: they are no longer those of the ledger. Such a step has no changes. */
  readonly reloads?: Reset['reason'];
  /** Why the contracts are not those that the caller has at this offset. Such a step has no changes. */
  readonly differs?: ReconcileReason;
  /** The participant from which contracts of another ledger are read; `undefined` if it does not report its ID. */
  readonly participantId?: string | undefined;
  /** Where the changes are in the history of the ledger; absent if that is not known. */
  readonly history?: PageHistory | undefined;
}
