import type { ExecuteRequest } from '../codecs/ExecuteRequest.js';
import type { Offset } from '../codecs/scalars.js';
import type { LedgerError } from '../errors/LedgerError.js';
import type { Submission } from '../errors/submission.js';
import type { Service } from '../feed/Service.js';
import type { CompleteRetryPolicy, RetryBudget } from '../http/retry.js';
import { attemptMs, deduplicationPeriod, sinceFirstAttempt } from './deduplication.js';

/** The data that all attempts to execute a submission share. */
export interface Execution {
  readonly service: Service;
  /** The validated request. */
  readonly request: ExecuteRequest;
  readonly submission: Omit<Submission, 'attempts'>;
  /** Returns the time since the first attempt, in milliseconds. */
  readonly sinceSentMs?: () => number;
  /** Whether no subscription has sent the change before. */
  readonly isFirst: boolean;
  /** Whether another subscription of the same change may have committed it. */
  readonly mayBeCommittedElsewhere: () => boolean;
  /** The retry policy; `giveUpAfterMs` is 0 for a single attempt. */
  readonly retry: CompleteRetryPolicy;
  /** The command id, if it is known. It identifies the transaction when it is read back. */
  readonly commandId: string | undefined;
}

/** What differs between the attempts. */
interface AttemptKey {
  /** The number of the attempt, from 1. */
  readonly number: number;
  /** The earliest offset that a deduplication period may have, if the participant has named it. */
  readonly earliest?: Offset | undefined;
}

/** The state of the attempts. */
export interface Attempts {
  /** The number of attempts so far. */
  readonly sent: number;
  /** Whether one of the attempts may have been committed. */
  readonly isUnknown: boolean;
  /** The refusal of an attempt for good, after an earlier one may have been committed. Nothing is sent after it. */
  readonly refusal?: LedgerError;
  /** Where a period begins that the participant accepts, after it was pruned within the requested one. */
  readonly earliest?: Offset;
  /** The remaining time for further attempts. It counts the failed attempts. */
  readonly budget: RetryBudget;
}

/**
 * Creates the body of an attempt. All attempts contain the same signed bytes, which identify the change. Each attempt
 * after the first has its own submission id, and a deduplication period that covers the earlier ones. Without a period of the
 * caller, the first attempt leaves it to the participant.
 */
export function attemptBody(execution: Execution, { number, earliest }: AttemptKey): ExecuteRequest {
  const { request, submission, sinceSentMs, isFirst, mayBeCommittedElsewhere, service, retry } = execution;
  const { submissionId, sentAt, since } = submission;
  const isLater = !isFirst || number > 1 || mayBeCommittedElsewhere();
  const { deduplicationPeriod: own } = request;
  if (!isLater && (own == null || 'Empty' in own)) return { ...request, submissionId };
  return {
    ...request,
    submissionId: isLater ? randomUuid() : submissionId,
    deduplicationPeriod: deduplicationPeriod({
      requested: earliest === undefined ? own : { DeduplicationOffset: { value: earliest } },
      since,
      isLater,
      elapsedMs: sinceFirstAttempt(sentAt, sinceSentMs),
      attemptMs: isLater || retry.giveUpAfterMs > 0 ? attemptMs(service.link.requestTimeoutMs) : 0,
    }),
  };
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
