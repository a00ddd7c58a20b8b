import {
  asyncScheduler,
  catchError,
  defer,
  type MonoTypeOperatorFunction,
  type Observable,
  retry,
  takeUntil,
  tap,
  throwIfEmpty,
  timer,
} from 'rxjs';
import type { Report } from '../diagnostics/Diagnostic.js';
import { isApiError } from '../errors/ApiError.js';
import { isLedgerResetError } from '../errors/feed.js';
import { isLedgerError, type LedgerError } from '../errors/LedgerError.js';
import { isTransient, withRetried } from '../errors/verdict.js';

/** How a feed asks again after a transient failure: exponential back-off with full jitter, for a while. */
export interface RetryPolicy {
  /**
   * The longest wait before the first retry, in milliseconds; it doubles with every further one.
   *
   * @defaultValue 250
   */
  readonly baseDelayMs?: number | undefined;
  /**
   * The longest wait before any retry, in milliseconds, unless the service asks for a longer one.
   *
   * @defaultValue 30000
   */
  readonly maxDelayMs?: number | undefined;
  /**
   * How long a feed goes on without a healthy answer, in milliseconds, before it ends with the last error: the time of its
   * attempts and of the waits between them, not that of a machine asleep. 0 never asks again.
   *
   * @defaultValue 300000
   */
  readonly giveUpAfterMs?: number | undefined;
}

/** A policy that leaves nothing open. */
export type CompleteRetryPolicy = { readonly [K in keyof RetryPolicy]-?: number };

/** How to ask again, and whom to tell of it. */
export interface Retrying {
  readonly retry: CompleteRetryPolicy;
  readonly report: Report;
}

/** Throws a TypeError for an option that is no time, or number of things: a mistake in the program, not of the ledger. */
export function checkPositive(options: Readonly<Record<string, number>>, isWhole = false): void {
  for (const [name, value] of Object.entries(options))
    if (!(value > 0) || (isWhole && !Number.isSafeInteger(value))) throw new TypeError(`${name} makes no sense`);
}

/** Fills in what neither policy says; the feed's own goes before the ledger's. Throws a TypeError for what makes no sense. */
export function retryPolicy(ledgers: RetryPolicy = {}, feeds: RetryPolicy = {}): CompleteRetryPolicy {
  const policy = {
    baseDelayMs: feeds.baseDelayMs ?? ledgers.baseDelayMs ?? 250,
    maxDelayMs: feeds.maxDelayMs ?? ledgers.maxDelayMs ?? 30_000,
    giveUpAfterMs: feeds.giveUpAfterMs ?? ledgers.giveUpAfterMs ?? 300_000,
  };
  // no time at all is a policy too: never again
  checkPositive({ ...policy, giveUpAfterMs: policy.giveUpAfterMs + 1 });
  return policy;
}

/** What a timer can count to; beyond it, it would fire at once. */
export const clampTimer = (ms: number): number => Math.min(ms, 2 ** 31 - 1);

/** How long a service is left alone before it is asked again. */
type BackOff = Pick<CompleteRetryPolicy, 'baseDelayMs' | 'maxDelayMs'>;

/** How long to wait: as long as the service asks, or for a random time that grows. */
export const waitBefore = (failures: number, error: LedgerError, backOff: BackOff): number =>
  Math.max(jitter(failures, backOff), (isApiError(error) ? error.retryAfterMs : undefined) ?? 0);

/** Full jitter: anything up to the back-off, so that the clients of a service that comes back do not come all at once. */
export const jitter = (failures: number, { baseDelayMs, maxDelayMs }: BackOff): number =>
  Math.random() * Math.min(maxDelayMs, baseDelayMs * 2 ** failures);

/** The most that one attempt counts for: a clock that was set, or a machine that slept, is no failure of the service. */
const mostPerAttemptMs = 60_000;

/** How long a cursor beyond the ledger end is given to be asked too early, before it is a ledger that was reset. */
const resetGraceMs = 10_000;

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
        return timer(clampTimer(wait));
      };
      const renew = (): void => {
        failures = 0;
        spentMs = 0;
        resetMs = 0;
      };
      return source.pipe(tap(renew), retry({ delay: again }));
    });

/** Waits so long for a single value, and no longer: unsubscribes from it then and errors. */
export const timeoutWith =
  <A>(ms: number, late: () => LedgerError): MonoTypeOperatorFunction<A> =>
  (source) =>
    source.pipe(takeUntil(timer(clampTimer(ms))), throwIfEmpty(late));

/** Puts another error in the place of the one that comes. */
export const mapError = <A>(put: (error: unknown) => unknown): MonoTypeOperatorFunction<A> =>
  catchError((error: unknown) => {
    throw put(error);
  });
