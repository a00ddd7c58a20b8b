import { isApiError } from '../errors/ApiError.js';
import type { LedgerError } from '../errors/LedgerError.js';
import type { CompleteRetryPolicy } from './RetryPolicy.js';

/** How long a service is left alone before it is asked again. */
type BackOff = Pick<CompleteRetryPolicy, 'baseDelayMs' | 'maxDelayMs'>;

/** Full jitter: anything up to the back-off, so that the clients of a service that comes back do not come all at once. */
export function waitBefore(failures: number, error: LedgerError, { baseDelayMs, maxDelayMs }: BackOff): number {
  const jitter = Math.random() * Math.min(maxDelayMs, baseDelayMs * 2 ** failures);
  return Math.max(jitter, (isApiError(error) ? error.retryAfterMs : undefined) ?? 0);
}
