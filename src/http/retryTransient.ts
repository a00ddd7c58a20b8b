import { asyncScheduler, defer, retry, tap, timer, type MonoTypeOperatorFunction, type Observable } from 'rxjs';
import { isLedgerError, type LedgerError } from '../errors/LedgerError.js';
import { isLedgerResetError } from '../errors/LedgerResetError.js';
import { withRetried } from '../errors/Retried.js';
import { isTransient } from '../errors/verdict.js';
import { atMost } from './atMost.js';
import type { Report } from '../events/Report.js';
import type { CompleteRetryPolicy } from './RetryPolicy.js';
import { waitBefore } from './waitBefore.js';

/** How long a cursor beyond the ledger end is given to be asked too early, before it is a ledger that was reset. */
const resetGraceMs = 10_000;

/** The most that one attempt counts for: a clock that was set, or a machine that slept, is no failure of the service. */
const mostPerAttemptMs = 60_000;

/** How to ask again, and whom to tell of it. */
export interface Retrying {
  readonly retry: CompleteRetryPolicy;
  readonly report: Report;
}

/**
 * Asks again after a transient failure, until the policy's time is over; then errors with the last one and with how long
 * that went on. The time is that of the attempts and of the waits between them, from the first failure on; whatever is
 * emitted renews it.
 *
 * @param isRetried - of the transient errors, those that are this operator's to retry; by default all of them
 */
export const retryTransient =
  <A>(
    { retry: policy, report }: Retrying,
    isRetried: (error: LedgerError) => boolean = () => true,
  ): MonoTypeOperatorFunction<A> =>
  (source) =>
    defer(() => {
      let failures = 0;
      let spentMs = 0;
      let resetMs = 0;
      let attemptAt = 0;
      const again = (error: unknown): Observable<unknown> => {
        if (!isLedgerError(error) || !isRetried(error)) throw error;
        const isReset = isLedgerResetError(error);
        const now = asyncScheduler.now();
        const tookMs = failures === 0 ? 0 : Math.min(mostPerAttemptMs, Math.max(0, now - attemptAt));
        spentMs += tookMs;
        const left = Math.min(policy.giveUpAfterMs - spentMs, isReset ? resetGraceMs - resetMs : Infinity);
        if (!(isReset || isTransient(error))) throw error;
        if (left <= 0) throw failures === 0 ? error : withRetried(error, { times: failures, forMs: spentMs });
        const wait = Math.min(left, waitBefore(failures, error, policy));
        failures += 1;
        spentMs += wait;
        resetMs = isReset ? resetMs + wait : 0;
        attemptAt = now + wait;
        report(() => ({ _tag: 'RetryScheduled', cause: error, delayMs: wait, failures, spentMs }));
        return timer(atMost(wait));
      };
      const renew = (): void => {
        failures = 0;
        spentMs = 0;
        resetMs = 0;
      };
      return source.pipe(tap(renew), retry({ delay: again }));
    });
