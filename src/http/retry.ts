import {
  catchError,
  defer,
  delayWhen,
  EMPTY,
  filter,
  merge,
  type MonoTypeOperatorFunction,
  NEVER,
  type Observable,
  of,
  retry,
  take,
  takeUntil,
  tap,
  throwIfEmpty,
  timer,
} from 'rxjs';
import { checkNotNegative, checkPositive } from '../codecs/internal/numbers.js';
import type { Report } from '../diagnostics/Diagnostic.js';
import { isLedgerError, type LedgerError, withRetried } from '../errors/LedgerError.js';
import { isTransient, mayBePermanent } from '../errors/verdict.js';
import { monotonicNow } from './clock.js';

/**
 * How a feed retries after a transient failure: with exponential back-off and full jitter, for a limited time.
 *
 * While the participant cannot be reached, the first request of the same ledger that succeeds ends the delays of all its
 * feeds within a second.
 *
 * @category Ledger
 */
export interface RetryPolicy {
  /**
   * The longest delay before the first retry, in milliseconds. It doubles with every further retry.
   *
   * @defaultValue 250
   */
  readonly baseDelayMs?: number | undefined;
  /**
   * The longest delay before any retry, in milliseconds, unless the participant requests a longer one by `Retry-After`. After
   * a refused connection (`ECONNREFUSED`) the longest delay is 5000, because such an attempt costs the host almost nothing.
   *
   * @defaultValue 30000
   */
  readonly maxDelayMs?: number | undefined;
  /**
   * How long a feed retries without a healthy response, in milliseconds, before it ends with the last error. Attempts and the
   * delays between them count; the time in which the machine sleeps does not. 0 disables retries.
   *
   * @defaultValue 300000
   */
  readonly giveUpAfterMs?: number | undefined;
}

/**
 * A policy with all defaults filled in.
 *
 * @category HTTP
 */
export type CompleteRetryPolicy = { readonly [K in keyof RetryPolicy]-?: number };

/** How to retry, and where to report it. */
export interface RetrySettings {
  readonly retry: CompleteRetryPolicy;
  readonly report: Report;
  /**
   * Emits after each success of another request to the same participant, which ends a wait for the participant to return; and
   * `hurry` if there is a reason to try again now, such as a network that is back.
   */
  readonly success$?: Observable<unknown>;
}

/** Merges the policies of a ledger and of one of its feeds; that of the feed has priority. Throws a TypeError for a time out of range. */
export function retryPolicy(ledger: RetryPolicy = {}, feed: RetryPolicy = {}): CompleteRetryPolicy {
  const policy = {
    baseDelayMs: feed.baseDelayMs ?? ledger.baseDelayMs ?? 250,
    maxDelayMs: feed.maxDelayMs ?? ledger.maxDelayMs ?? 30_000,
    giveUpAfterMs: feed.giveUpAfterMs ?? ledger.giveUpAfterMs ?? 300_000,
  };
  const { giveUpAfterMs, ...delays } = policy;
  checkPositive(delays);
  checkNotNegative({ giveUpAfterMs });
  return policy;
}

/** Limits a time to what a timer supports. A longer one would fire at once. */
export const clampTimer = (ms: number): number => Math.min(ms, 2 ** 31 - 1);

/** Emits after a time: immediately if it is zero, and never if it is infinite. */
export function elapsed(ms: number): Observable<unknown> {
  if (ms === 0) return of(true);
  return ms === Infinity ? NEVER : timer(clampTimer(ms));
}

/** The delays of a policy. */
type BackOff = Pick<CompleteRetryPolicy, 'baseDelayMs' | 'maxDelayMs'>;

/** Full jitter: any delay up to the back-off, so that the clients of a participant that recovers do not all return at once. */
export const jitter = (failures: number, { baseDelayMs, maxDelayMs }: BackOff): number =>
  Math.random() * Math.min(maxDelayMs, baseDelayMs * 2 ** failures);

/** The maximum time that an attempt counts for, in milliseconds. A machine that slept is not a failure. */
const maxAttemptMs = 60_000;

/** How much of a policy's time is used up, and the next delay. Immutable: each method returns a new budget. */
export class RetryBudget {
  constructor(
    private readonly policy: CompleteRetryPolicy,
    /** The number of failures so far. */
    readonly failures = 0,
    /** The time of the attempts and of the delays between them, in milliseconds. */
    readonly spentMs = 0,
  ) {}

  /** The time that is left, in milliseconds; the budget is used up at 0 or below. */
  get leftMs(): number {
    return this.policy.giveUpAfterMs - this.spentMs;
  }

  /** Counts the time that an attempt took. */
  spend(tookMs: number, maxMs = maxAttemptMs): RetryBudget {
    return new RetryBudget(this.policy, this.failures, this.spentMs + Math.min(maxMs, Math.max(0, tookMs)));
  }

  /** A delay before the next attempt: random, at least what the participant requested, at most what is left. */
  nextDelayMs(retryAfterMs = 0, maxDelayMs = this.policy.maxDelayMs): number {
    const back = { ...this.policy, maxDelayMs: Math.min(maxDelayMs, this.policy.maxDelayMs) };
    return Math.min(this.leftMs, Math.max(jitter(this.failures, back), retryAfterMs));
  }

  /** Counts a failure and the delay after it. */
  countFailure(delayMs: number): RetryBudget {
    return new RetryBudget(this.policy, this.failures + 1, this.spentMs + delayMs);
  }

  /** Takes back the rest of a delay that ended early. */
  refund(ms: number): RetryBudget {
    return new RetryBudget(this.policy, this.failures, this.spentMs - ms);
  }

  /** Begins the back-off again: the next delay is a short one. */
  beginAgain(): RetryBudget {
    return new RetryBudget(this.policy, 0, this.spentMs);
  }

  /** The whole budget again. */
  renew(): RetryBudget {
    return new RetryBudget(this.policy);
  }
}

/** The delay that the participant requested with an error, in milliseconds. */
export const retryAfterOf = (error: LedgerError): number | undefined =>
  isLedgerError(error, 'ApiError', 'ConnectionError') ? error.retryAfterMs : undefined;

/** Ends every delay that the participant has not requested. */
export const hurry = 'hurry';

/** Within this time all that wait for the participant return to it after a success, in milliseconds. */
const returnSpreadMs = 1_000;

/** The longest delay after a refused connection, in milliseconds: an attempt costs the host almost nothing. */
const maxRefusedDelayMs = 5_000;

const maxDelayAfter = (error: LedgerError): number | undefined =>
  isLedgerError(error, 'ConnectionError') && error.code === 'ECONNREFUSED' ? maxRefusedDelayMs : undefined;

/** Whether an error means that the participant cannot be reached. Its own errors say that it can. */
const isUnreachable = (error: LedgerError): boolean =>
  retryAfterOf(error) === undefined &&
  (isLedgerError(error, 'ConnectionError', 'RequestTimeoutError') ||
    (isLedgerError(error, 'ApiError') &&
      error.code === undefined &&
      (error.status > 500 || error.answeredBefore === 'here')));

/** How many times in a row a request is repeated after an error that may be permanent. */
const maxDoubtfulRetries = 5;

/** The shortest delay before such a repetition, in milliseconds. It doubles, so that a restart has time. */
const doubtfulDelayMs = 250;

/**
 * Retries after a transient failure until the policy's time is used up. Then errors with the last failure, which has the
 * number and the time of the retries. The time counts from the first failure; every value renews it.
 *
 * @param isRetried - which of the transient errors this operator retries; by default all of them
 */
export const retryTransient =
  <A>(
    { retry: policy, report, success$ = EMPTY }: RetrySettings,
    isRetried: (error: LedgerError) => boolean = () => true,
  ): MonoTypeOperatorFunction<A> =>
  (source) =>
    defer(() => {
      let budget = new RetryBudget(policy);
      let doubtful = 0;
      let attemptAt = 0;
      let endedEarly = false;
      const delay = (error: unknown): Observable<unknown> => {
        if (!isLedgerError(error) || !isRetried(error)) throw error;
        // a participant that lags, or reads again what it had
        const isBehind = isLedgerError(error, 'LedgerResetError') && error.reason === 'endBeforeCursor';
        if (!isBehind && !isTransient(error)) throw error;
        const now = monotonicNow();
        if (budget.failures > 0) budget = budget.spend(now - attemptAt);
        const { leftMs } = budget;
        const isDoubtful = mayBePermanent(error);
        const { failures, spentMs } = budget;
        if (leftMs <= 0 || (isDoubtful && doubtful === maxDoubtfulRetries))
          throw failures === 0 ? error : withRetried(error, { times: failures, forMs: spentMs });
        const minDelayMs = isDoubtful ? doubtfulDelayMs * 2 ** doubtful : 0;
        doubtful = isDoubtful ? doubtful + 1 : 0;
        const requestedMs = Math.max(minDelayMs, retryAfterOf(error) ?? 0);
        const delayMs = Math.min(leftMs, budget.nextDelayMs(requestedMs, maxDelayAfter(error)));
        budget = budget.countFailure(delayMs);
        attemptAt = now + delayMs;
        const spent = { failures: failures + 1, spentMs: spentMs + delayMs };
        report(() => ({ _tag: 'RetryScheduled', cause: error, delayMs, ...spent }));
        // once per outage, so that a request that fails for its own reasons is not repeated with each success of the others
        const mayReturn = !endedEarly && isUnreachable(error);
        const mayHurry = retryAfterOf(error) === undefined;
        const delay$ = timer(clampTimer(delayMs));
        const return$ = success$.pipe(
          filter((how) => (how === hurry ? mayHurry : mayReturn)),
          take(1),
          delayWhen(() => timer(Math.random() * returnSpreadMs)),
          tap((how) => {
            endDelay(how === hurry);
          }),
        );
        return merge(delay$, return$);
      };
      const endDelay = (isHurried: boolean): void => {
        const now = monotonicNow();
        budget = budget.refund(Math.max(0, attemptAt - now));
        attemptAt = Math.min(attemptAt, now);
        if (isHurried) budget = budget.beginAgain();
        else endedEarly = true;
      };
      const renew = (): void => {
        endedEarly = false;
        doubtful = 0;
        budget = budget.renew();
      };
      return source.pipe(tap(renew), retry({ delay }));
    });

/**
 * Waits for a single value for a limited time, then unsubscribes from the source and errors.
 *
 * @param timeIsOver$ - emits when the time is over
 */
export const timeoutWith =
  <A>(
    ms: number,
    makeError: () => LedgerError,
    timeIsOver$: Observable<unknown> = timer(clampTimer(ms)),
  ): MonoTypeOperatorFunction<A> =>
  (source) =>
    source.pipe(takeUntil(timeIsOver$), throwIfEmpty(makeError));

/** Replaces the error of a source. */
export const mapError = <A>(map: (error: unknown) => unknown): MonoTypeOperatorFunction<A> =>
  catchError((error: unknown) => {
    throw map(error);
  });
