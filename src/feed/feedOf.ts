import { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { Report } from '../events/Report.js';
import { checked } from '../http/checked.js';
import { retryPolicy, type RetryPolicy } from '../http/RetryPolicy.js';
import type { Feed } from './Feed.js';
import type { Service } from './Service.js';
import type { UpdatesOptions } from './UpdatesOptions.js';

/** A feed with its defaults; throws an `InvalidRequestError` for a request that breaks a rule. */
export const feedOf = (
  service: Service,
  request: UpdatesRequest,
  { maxPageSize = 200, idleTimeoutMs, onInvalid = 'fail', onGap = 'fail', ...how }: UpdatesOptions,
  ledgerRetry: RetryPolicy | undefined,
  report: Report,
): Feed => ({
  service,
  request: checked(UpdatesRequest, request),
  transport: how.transport ?? 'http',
  maxPageSize,
  idleTimeoutMs: idleTimeoutMs ?? 5_000,
  quietTimeoutMs: idleTimeoutMs ?? 12_000,
  parallelRanges: how.parallelRanges,
  onInvalid,
  onGap,
  retry: retryPolicy(ledgerRetry, how.retry),
  report,
});
