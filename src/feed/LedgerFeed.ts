import type { Observable, ObservableInput } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { Report } from '../diagnostics/Diagnostic.js';
import { validateRequest } from '../http/exchange.js';
import { type CompleteRetryPolicy, retryPolicy, type RetryPolicy } from '../http/retry.js';
import type { Service } from './Service.js';
import type { Transport } from './Transport.js';
import type { Gap, UpdatesOptions } from './UpdatesOptions.js';

/** The constants of a feed: its service, its validated request, and its options with their defaults. */
export interface LedgerFeed {
  readonly service: Service;
  readonly request: UpdatesRequest;
  /** `undefined`: the feed polls. */
  readonly transport: Transport | undefined;
  readonly maxPageSize: number;
  /** The idle timeout of a poll, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** The idle timeout after polls without an update, in milliseconds. */
  readonly quietTimeoutMs: number;
  /** `undefined`: as many as the latency of the participant makes worthwhile. */
  readonly parallelRanges: number | undefined;
  readonly onInvalid: 'fail' | 'emit';
  readonly onGap: 'fail' | ((gap: Gap) => ObservableInput<Offset>);
  readonly retry: CompleteRetryPolicy;
  readonly report: Report;
  readonly success$: Observable<unknown>;
}

/** Creates a feed. Throws an `InvalidRequestError` if the request is invalid. */
export const createLedgerFeed = (
  service: Service,
  request: UpdatesRequest,
  { maxPageSize = 200, idleTimeoutMs, onInvalid = 'fail', onGap = 'fail', ...options }: UpdatesOptions,
  ledgerRetry: RetryPolicy | undefined,
  report: Report,
): LedgerFeed => ({
  service,
  request: validateRequest(UpdatesRequest, request),
  transport: options.transport === 'http' ? undefined : options.transport,
  maxPageSize,
  idleTimeoutMs: idleTimeoutMs ?? 5_000,
  quietTimeoutMs: idleTimeoutMs ?? 12_000,
  parallelRanges: options.parallelRanges,
  onInvalid,
  onGap,
  retry: retryPolicy(ledgerRetry, options.retry),
  report,
  success$: service.success$,
});
