import type { LedgerPosition } from '../codecs/LedgerPosition.js';
import type { Offset } from '../codecs/scalars.js';
import type { DiagnosticOf } from '../diagnostics/Diagnostic.js';
import type { RetryBudget } from '../http/retry.js';
import type { ReconcileReason, Reset } from './ContractChange.js';
import type { ContractSet } from './ContractSet.js';
import type { PackageWatch } from './reconcile/PackageWatch.js';
import type { Parties } from './selection/Selection.js';

/** How far the changes of a subscription are complete, and why the contracts are read next. */
export interface JoinProgress {
  /** The offset is `undefined` before the first `Reset`; the contracts, before they are read for the first time. */
  known: { readonly offset: Offset | undefined; readonly contracts: ContractSet | undefined };
  /** The reason of the next `Reset`; `undefined` if the caller has the contracts at the offset. */
  reason: Reset['reason'] | undefined;
  readonly compare: Compare;
  /** What was read of the ledger; `undefined` if nothing was, or after a reset of the ledger. */
  position: LedgerPosition | undefined;
  readonly packages: PackageWatch;
  /** Whether the ledger did not have the newest contract when the contracts were last read. */
  isDoubtful: boolean;
  /** Whether nothing will show any more that the ledger is the same: what does is pruned. */
  isLost: boolean;
  /** The gap after which the contracts are read again, if it is not reported yet. */
  gap: Omit<DiagnosticOf<'GapFound'>, '_tag'> | undefined;
  /** The delay before the contracts are read, in milliseconds. */
  delayMs: number;
  /** The delays of consecutive reloads: a participant may prune faster than the contracts can be read. */
  budget: RetryBudget;
  /** The parties of the contracts that are known; before, those with which the caller has read its own. */
  parties: Parties;
  /** Present if the position was read with another selection, and the caller has its contracts. */
  others: Others | undefined;
}

/**
 * Compares the contracts at an offset with those that the caller has there: they are the same, or differ for a reason, or they are
 * those of another ledger.
 */
export type Compare = (contracts: ContractSet) => 'same' | ReconcileReason | 'otherLedger';

/** Contracts that were read with another query, which is not known any more. */
export interface Others {
  /** Whether they are those of other parties or types than these parties now select. */
  readonly areHad: (parties: Parties) => boolean;
  /** Makes the error if they cannot be taken over, because the participant was restored, or is another one. */
  readonly movedError: () => unknown;
}
