import { asyncScheduler } from 'rxjs';
import type { ExecuteRequest } from '../codecs/ExecuteRequest.js';
import { coveringPeriod } from './coveringPeriod.js';
import { randomUuid } from './randomUuid.js';
import type { Sending } from './Sending.js';

/**
 * The body of a try. What was signed stays, and so the change is the same; each try has an id of its own, and looks far
 * enough back for those before it.
 */
export function bodyOf({ request, submission, isFirst, service }: Sending, attempt: number): ExecuteRequest {
  const { submissionId, sentAt, beginExclusive } = submission;
  const { deduplicationPeriod } = request;
  if (isFirst && attempt === 1) return { ...request, submissionId };
  // what the request itself may take counts as well
  const elapsedMs = asyncScheduler.now() - sentAt + service.link.requestTimeoutMs;
  const since = { elapsedMs, ...(beginExclusive !== undefined && { beginExclusive }) };
  return {
    ...request,
    submissionId: randomUuid(),
    deduplicationPeriod: coveringPeriod(deduplicationPeriod ?? { Empty: {} }, since),
  };
}
