import { asyncScheduler } from 'rxjs';
import type { DeduplicationPeriod, ExecuteRequest } from '../codecs/ExecuteRequest.js';
import type { Offset } from '../codecs/scalars.js';
import type { Submission } from '../errors/submission.js';
import type { Service } from '../feed/Service.js';
import type { CompleteRetryPolicy } from '../http/retry.js';

/** What stays the same through all tries of one submission. */
export interface Sending {
  readonly service: Service;
  /** Checked. */
  readonly request: ExecuteRequest;
  readonly submission: Omit<Submission, 'attempts'>;
  /** Whether it is sent for the first time at all. */
  readonly isFirst: boolean;
  /** Whether another subscription of the same change may have committed it. */
  readonly isOpenElsewhere: () => boolean;
  /** How long to go on after a failure; 0 for a single try. */
  readonly withinMs: number;
  readonly retry: CompleteRetryPolicy;
  /** Where it is known: by it a transaction that is read back is recognised. */
  readonly commandId: string | undefined;
}

/** How far it has come. */
export interface Attempts {
  readonly attempts: number;
  /** Whether a try may have been committed. */
  readonly isUnknown: boolean;
  /** How much of `withinMs` is used up. */
  readonly spentMs: number;
}

/** Since when the ledger must look for an earlier try. */
export interface Since {
  /** How long ago, at most, when the ledger looks. */
  readonly elapsedMs: number;
  /** Where the ledger ended before it. */
  readonly beginExclusive?: Offset;
}

/**
 * The period of a request that is sent again: it must reach back to the first try, or the ledger commits twice. It is
 * the caller's own where that is long enough, and never a shorter one: somebody else may have sent the change before.
 */
export function extendDeduplication(
  wish: DeduplicationPeriod,
  { elapsedMs, beginExclusive }: Since,
): DeduplicationPeriod {
  if ('DeduplicationDuration' in wish) {
    const { seconds } = wish.DeduplicationDuration.value;
    const elapsed = Math.ceil(elapsedMs / 1_000);
    return seconds > elapsed
      ? wish
      : { DeduplicationDuration: { value: { seconds: seconds + 1 + elapsed, nanos: 0 } } };
  }
  if ('DeduplicationOffset' in wish) {
    const value = Math.min(wish.DeduplicationOffset.value, beginExclusive ?? Infinity);
    return { DeduplicationOffset: { value } };
  }
  return wish;
}

/** A random UUID, version 4. `crypto.randomUUID` is not there on a page that came by plain HTTP. */
export const randomUuid = (): string =>
  // a digit of the pattern is a random one; but the version, 4, stays, and the variant is one of 8, 9, a and b
  'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (digit) => {
    const random = (crypto.getRandomValues(new Uint8Array(1))[0] ?? 0) % 16;
    return (digit === 'x' ? random : 8 + (random % 4)).toString(16);
  });

/** A token may be waited for twice, the answer once, and what was given up on may arrive still. */
const mostOnTheWay = 4;

/**
 * The body of a try. What was signed stays, and so the change is the same; each try has an id of its own, and looks far
 * enough back for those before it.
 */
export function attemptBody(
  { request, submission, isFirst, isOpenElsewhere, service }: Sending,
  attempt: number,
): ExecuteRequest {
  const { submissionId, sentAt, beginExclusive } = submission;
  const { deduplicationPeriod } = request;
  if (isFirst && attempt === 1 && !isOpenElsewhere()) return { ...request, submissionId };
  // a clock that was set back makes it no shorter
  const elapsedMs = Math.max(0, asyncScheduler.now() - sentAt) + mostOnTheWay * service.link.requestTimeoutMs;
  const since = { elapsedMs, ...(beginExclusive !== undefined && { beginExclusive }) };
  return {
    ...request,
    submissionId: randomUuid(),
    deduplicationPeriod: extendDeduplication(deduplicationPeriod ?? { Empty: {} }, since),
  };
}
