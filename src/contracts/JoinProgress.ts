import type { LedgerPosition } from '../codecs/LedgerPosition.js';
import type { Offset } from '../codecs/scalars.js';
import type { DiagnosticOf } from '../diagnostics/Diagnostic.js';
import type { RetryBudget } from '../http/retry.js';
import type { ReconcileReason, Reset, ContractsBatch } from './ContractChange.js';
import type { ContractSet } from './ContractSet.js';
import type { PackageWatch } from './reconcile/PackageWatch.js';
import type { Parties } from './selection/Selection.js';
import { type MonoTypeOperatorFunction, retry, timer } from 'rxjs';
import { LedgerResetError } from '../errors/feed.js';
import { isLedgerError, withRetried } from '../errors/LedgerError.js';
import { isGapError } from '../feed/UpdatesOptions.js';
import type { AnyContract } from './Contract.js';
import type { ContractPolicies, ContractsSource } from './ContractQuery.js';
import { UnpairedError } from './snapshot/pairHalves.js';
import { MovedError } from './withPosition.js';

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

/** Reads the contracts again after a gap, if `onGap` allows it. */
export const reloadAfterGap = (
  source: ContractsSource,
  { onGap }: ContractPolicies,
  progress: JoinProgress,
): MonoTypeOperatorFunction<ContractsBatch<AnyContract>> =>
  retry({
    delay: (error: unknown) => {
      const { known, budget } = progress;
      const cursor = known.offset;
      const { failures, spentMs, leftMs } = budget;
      const retried = failures > 0 && leftMs <= 0 ? { times: failures, forMs: spentMs } : undefined;
      const isMoved = error instanceof MovedError;
      if (isMoved && retried !== undefined)
        throw withRetried(new LedgerResetError(cursor ?? 0, undefined, 'several ledgers answer in turn'), retried);
      if (!isMoved) {
        // the contracts cannot be read at this offset, at which the caller has them
        const isUnpaired = error instanceof UnpairedError && progress.reason === undefined;
        const isGap = (isGapError(error) || isUnpaired) && cursor !== undefined;
        if (isGap) progress.gap = { cursor, cause: error };
        if (!isGap || onGap === 'fail' || progress.isLost || retried !== undefined) {
          reportGap(source, progress);
          throw isGap && retried !== undefined ? withRetried(error, retried) : error;
        }
        progress.reason = isLedgerError(error, 'LedgerResetError') ? 'ledgerReset' : 'pruned';
        if (progress.reason === 'ledgerReset') progress.position = undefined;
      }
      progress.delayMs = isMoved || failures > 0 ? budget.nextDelayMs() : 0;
      progress.budget = budget.countFailure(progress.delayMs);
      return timer(0);
    },
  });

/** Reports a gap once it is known where the changes continue, or that they do not. */
export function reportGap({ report }: ContractsSource, progress: JoinProgress, resumesFrom?: Offset): void {
  const { gap } = progress;
  progress.gap = undefined;
  if (gap !== undefined)
    report(() => ({ _tag: 'GapFound', ...gap, ...(resumesFrom !== undefined && { resumesFrom }) }));
}
