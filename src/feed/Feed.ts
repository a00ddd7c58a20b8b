import type { ObservableInput } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { Report } from '../diagnostics/Diagnostic.js';
import { validateRequest } from '../http/exchange.js';
import { type CompleteRetryPolicy, retryPolicy, type RetryPolicy } from '../http/retry.js';
import type { Service } from './Service.js';
import type { Gap, UpdatesOptions } from './UpdatesOptions.js';

/** What stays the same through all requests of one feed. */
export interface Feed {
  readonly service: Service;
  /** Checked. */
  readonly request: UpdatesRequest;
  readonly transport: 'http' | 'websocket';
  readonly maxPageSize: number;
  readonly idleTimeoutMs: number;
  /** The same once nothing has come for a while. */
  readonly quietTimeoutMs: number;
  /** Absent: as many as pay. */
  readonly parallelRanges: number | undefined;
  readonly onInvalid: 'fail' | 'emit';
  readonly onGap: 'fail' | ((gap: Gap) => ObservableInput<Offset>);
  readonly retry: CompleteRetryPolicy;
  readonly report: Report;
}

/** A feed with its defaults; throws an `InvalidRequestError` for a request that breaks a rule. */
export const createFeed = (
  service: Service,
  request: UpdatesRequest,
  { maxPageSize = 200, idleTimeoutMs, onInvalid = 'fail', onGap = 'fail', ...how }: UpdatesOptions,
  ledgerRetry: RetryPolicy | undefined,
  report: Report,
): Feed => ({
  service,
  request: validateRequest(UpdatesRequest, request),
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
