import { asyncScheduler } from 'rxjs';
import type { ExecuteRequest } from '../codecs/ExecuteRequest.js';
import { coveringPeriod } from './coveringPeriod.js';
import { randomUuid } from './randomUuid.js';
import type { Sending } from './Sending.js';

/** A token may be waited for twice, the answer once, and what was given up on may arrive still. */
const mostOnTheWay = 4;

/**
 * The body of a try. What was signed stays, and so the change is the same; each try has an id of its own, and looks far
 * enough back for those before it.
 */
export function bodyOf(
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
    deduplicationPeriod: coveringPeriod(deduplicationPeriod ?? { Empty: {} }, since),
  };
}
