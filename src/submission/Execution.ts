import { asyncScheduler } from 'rxjs';
import type { DeduplicationPeriod, ExecuteRequest } from '../codecs/ExecuteRequest.js';
import type { Offset } from '../codecs/scalars.js';
import type { Submission } from '../errors/submission.js';
import type { Service } from '../feed/Service.js';
import type { CompleteRetryPolicy, RetryBudget } from '../http/retry.js';

/** The data that all attempts to execute a submission share. */
export interface Execution {
  readonly service: Service;
  /** Validated. */
  readonly request: ExecuteRequest;
  readonly submission: Omit<Submission, 'attempts'>;
  /** Whether the change has not been sent before, by any subscription. */
  readonly isFirst: boolean;
  /** Whether another subscription of the same change may have committed it. */
  readonly mayBeCommittedElsewhere: () => boolean;
  /** `giveUpAfterMs` is 0 for a single attempt. */
  readonly retry: CompleteRetryPolicy;
  /** Identifies the transaction when it is read back, if it is known. */
  readonly commandId: string | undefined;
}

/** The state of the attempts. */
export interface Attempts {
  /** Whether one of them may have been committed. */
  readonly isUnknown: boolean;
  /** The time that is left for further attempts. Its failures are those of the attempts. */
  readonly budget: RetryBudget;
}

/** How many request timeouts an attempt may take: two tokens, the response, and its arrival after the client gave up. */
const timeoutsPerAttempt = 4;

/**
 * The body of an attempt. The signed bytes stay, and so does the change that they identify. Each attempt after the first
 * has a submission id of its own, and a deduplication period that covers the earlier ones.
 */
export function attemptBody(
  { request, submission, isFirst, mayBeCommittedElsewhere, service }: Execution,
  attempt: number,
): ExecuteRequest {
  const { submissionId, sentAt, beginExclusive } = submission;
  const { deduplicationPeriod } = request;
  if (isFirst && attempt === 1 && !mayBeCommittedElsewhere()) return { ...request, submissionId };
  // not below 0, in case the clock was set back
  const elapsedMs = Math.max(0, asyncScheduler.now() - sentAt) + timeoutsPerAttempt * service.link.requestTimeoutMs;
  return {
    ...request,
    submissionId: randomUuid(),
    deduplicationPeriod: extendDeduplication(deduplicationPeriod ?? { Empty: {} }, { elapsedMs, beginExclusive }),
  };
}

/** The start of a change, which a deduplication period must cover. */
interface ChangeStart {
  /** The longest time since the first attempt, when the ledger checks for duplicates. */
  readonly elapsedMs: number;
  /** The ledger end before the first attempt, if it is known. */
  readonly beginExclusive: Offset | undefined;
}

/**
 * Extends a period back to the first attempt if it does not reach that far; otherwise the ledger would commit twice. Never
 * shortens the caller's period: the caller may have sent the change before, by other means.
 */
function extendDeduplication(
  period: DeduplicationPeriod,
  { elapsedMs, beginExclusive }: ChangeStart,
): DeduplicationPeriod {
  if ('DeduplicationDuration' in period) {
    const { seconds } = period.DeduplicationDuration.value;
    const elapsed = Math.ceil(elapsedMs / 1_000);
    return seconds > elapsed
      ? period
      : { DeduplicationDuration: { value: { seconds: seconds + 1 + elapsed, nanos: 0 } } };
  }
  if ('DeduplicationOffset' in period) {
    const value = Math.min(period.DeduplicationOffset.value, beginExclusive ?? Infinity);
    return { DeduplicationOffset: { value } };
  }
  return period;
}

/** A random UUID, version 4. A page that was loaded over plain HTTP has no `crypto.randomUUID`. */
export const randomUuid = (): string =>
  // x is any digit; y, the variant, is one of 8, 9, a and b
  'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (digit) => {
    const random = (crypto.getRandomValues(new Uint8Array(1))[0] ?? 0) % 16;
    return (digit === 'x' ? random : 8 + (random % 4)).toString(16);
  });
