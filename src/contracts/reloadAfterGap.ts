import { type MonoTypeOperatorFunction, retry, timer } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import { LedgerResetError } from '../errors/feed.js';
import { isLedgerError, withRetried } from '../errors/LedgerError.js';
import { isGapError } from '../feed/UpdatesOptions.js';
import type { AnyContract } from './Contract.js';
import type { ContractsBatch } from './ContractChange.js';
import type { ContractPolicies, ContractsSource } from './ContractQuery.js';
import type { JoinProgress } from './JoinProgress.js';
import { UnpairedError } from './snapshot/pairHalves.js';
import { MovedError } from './withPosition.js';

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
