import { asyncScheduler, defer, retry, timer, type MonoTypeOperatorFunction, type Observable } from 'rxjs';
import { isApiError } from '../errors/ApiError.js';
import { isLedgerError, type LedgerError } from '../errors/LedgerError.js';
import { isLedgerResetError } from '../errors/LedgerResetError.js';
import { isTransient } from '../errors/verdict.js';
import type { RetryPolicy } from './RetryPolicy.js';

/** How long a cursor beyond the ledger end is given to be asked too early, before it is a ledger that was reset. */
const resetGraceMs = 10_000;

/**
 * Asks again after a transient failure, until the policy's time is over. The time starts with the first failure of this
 * subscription: a request that is subscribed anew after its answer starts with a full budget.
 */
export const retryTransient =
  <A>(policy: Required<RetryPolicy>): MonoTypeOperatorFunction<A> =>
  (source) =>
    defer(() => {
      let failures = 0;
      let failingSince = 0;
      const again = (error: unknown): Observable<unknown> => {
        if (!isLedgerError(error)) throw error;
        if (failures === 0) failingSince = asyncScheduler.now();
        const wait = waitBefore(failures, error, policy);
        failures += 1;
        if (asyncScheduler.now() + wait - failingSince > patience(error, policy)) throw error;
        return timer(wait);
      };
      return source.pipe(retry({ delay: again }));
    });

function patience(error: LedgerError, { giveUpAfterMs }: Required<RetryPolicy>): number {
  if (isLedgerResetError(error)) return Math.min(resetGraceMs, giveUpAfterMs);
  return isTransient(error) ? giveUpAfterMs : -1;
}

/** Full jitter: anything up to the back-off, so that the clients of a service that comes back do not come all at once. */
function waitBefore(failures: number, error: LedgerError, { baseDelayMs, maxDelayMs }: Required<RetryPolicy>): number {
  const jitter = Math.random() * Math.min(maxDelayMs, baseDelayMs * 2 ** failures);
  return Math.max(jitter, (isApiError(error) ? error.retryAfterMs : undefined) ?? 0);
}
