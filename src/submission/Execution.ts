import { asyncScheduler } from 'rxjs';
import type { DeduplicationPeriod, ExecuteRequest } from '../codecs/ExecuteRequest.js';
import type { Offset } from '../codecs/scalars.js';
import type { LedgerError } from '../errors/LedgerError.js';
import type { Submission } from '../errors/submission.js';
import type { Service } from '../feed/Service.js';
import type { CompleteRetryPolicy, RetryBudget } from '../http/retry.js';

/** The data that all attempts to execute a submission share. */
export interface Execution {
  readonly service: Service;
  /** The validated request. */
  readonly request: ExecuteRequest;
  readonly submission: Omit<Submission, 'attempts'>;
  /** Whether no subscription has sent the change before. */
  readonly isFirst: boolean;
  /** Whether another subscription of the same change may have committed it. */
  readonly mayBeCommittedElsewhere: () => boolean;
  /** The retry policy; `giveUpAfterMs` is 0 for a single attempt. */
  readonly retry: CompleteRetryPolicy;
  /** The command id, if it is known. It identifies the transaction when it is read back. */
  readonly commandId: string | undefined;
}

/** The state of the attempts. */
export interface Attempts {
  /** The number of attempts so far. */
  readonly sent: number;
  /** Whether one of the attempts may have been committed. */
  readonly isUnknown: boolean;
  /** The refusal of an attempt for good, after an earlier one may have been committed. Nothing is sent after it. */
  readonly refusal?: LedgerError;
  /** The remaining time for further attempts. It counts the failed attempts. */
  readonly budget: RetryBudget;
}

/**
 * The maximum duration of an attempt in request timeouts: two tokens, the response, and its arrival after the client
 * gave up.
 */
export const timeoutsPerAttempt = 4;

/**
 * Creates the body of an attempt. All attempts contain the same signed bytes, which identify the change. Each attempt
 * after the first has its own submission id, and a deduplication period that covers the earlier attempts.
 */
export function attemptBody(
  { request, submission, isFirst, mayBeCommittedElsewhere, service }: Execution,
  attempt: number,
): ExecuteRequest {
  const { submissionId, sentAt, since } = submission;
  const { deduplicationPeriod } = request;
  if (isFirst && attempt === 1 && !mayBeCommittedElsewhere()) return { ...request, submissionId };
  // not below 0, in case the clock was set back
  const elapsedMs = Math.max(0, asyncScheduler.now() - sentAt) + timeoutsPerAttempt * service.link.requestTimeoutMs;
  return {
    ...request,
    submissionId: randomUuid(),
    deduplicationPeriod: extendDeduplication(deduplicationPeriod ?? { Empty: {} }, { elapsedMs, since }),
  };
}

/** The start of a change, which a deduplication period must cover. */
interface ChangeStart {
  /** The maximum time from the first attempt until the ledger checks for duplicates. */
  readonly elapsedMs: number;
  /** The ledger end before the first attempt, if it is known. */
  readonly since: Offset | undefined;
}

/** The longest period that a participant allows by default, in seconds: a week. */
const longestSeconds = 604_800;

/**
 * Extends a period so that it covers the first attempt. Otherwise, the ledger could commit the change twice. Never
 * shortens the caller's period, because the caller may have sent the change earlier by other means.
 */
export function extendDeduplication(
  period: DeduplicationPeriod,
  { elapsedMs, since }: ChangeStart,
): DeduplicationPeriod {
  const elapsed = Math.ceil(elapsedMs / 1_000);
  if ('DeduplicationDuration' in period) {
    const { seconds } = period.DeduplicationDuration.value;
    return seconds > elapsed
      ? period
      : { DeduplicationDuration: { value: { seconds: seconds + 1 + elapsed, nanos: 0 } } };
  }
  if ('DeduplicationOffset' in period) {
    const value = Math.min(period.DeduplicationOffset.value, since ?? Infinity);
    return { DeduplicationOffset: { value } };
  }
  // the longest period of a participant can be as short as 30 seconds
  return { DeduplicationDuration: { value: { seconds: Math.max(longestSeconds, 1 + elapsed), nanos: 0 } } };
}

/** Returns a random UUID, version 4. Pages loaded over plain HTTP lack `crypto.randomUUID`. */
export function randomUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(31)).values();
  // x is any digit; y, the variant, is one of 8, 9, a and b
  return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (digit) => {
    const random = (bytes.next().value ?? 0) % 16;
    return (digit === 'x' ? random : 8 + (random % 4)).toString(16);
  });
}
