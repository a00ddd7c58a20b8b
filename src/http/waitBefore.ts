import { isApiError } from '../errors/ApiError.js';
import type { LedgerError } from '../errors/LedgerError.js';
import type { CompleteRetryPolicy } from './RetryPolicy.js';

/** How long a service is left alone before it is asked again. */
type BackOff = Pick<CompleteRetryPolicy, 'baseDelayMs' | 'maxDelayMs'>;

/** How long to wait: as long as the service asks, or for a random time that grows. */
export const waitBefore = (failures: number, error: LedgerError, backOff: BackOff): number =>
  Math.max(jitter(failures, backOff), (isApiError(error) ? error.retryAfterMs : undefined) ?? 0);

/** Full jitter: anything up to the back-off, so that the clients of a service that comes back do not come all at once. */
export const jitter = (failures: number, { baseDelayMs, maxDelayMs }: BackOff): number =>
  Math.random() * Math.min(maxDelayMs, baseDelayMs * 2 ** failures);
