import type { Observable } from 'rxjs';
import type { Service } from '../feed/Service.js';
import type { Transport } from '../feed/LedgerFeed.js';
import { checkOptions, type UpdatesOptions } from '../feed/UpdatesOptions.js';
import type { Report } from '../diagnostics/Diagnostic.js';
import { checkPositive, type CompleteRetryPolicy, retryPolicy, type RetryPolicy } from '../http/retry.js';
import { requireConnection } from '../ledger/connection.js';
import type { LedgerReader } from '../ledger/Ledger.js';

/**
 * Options for reading contracts.
 *
 * @category Contracts
 */
export interface ContractsOptions {
  /**
   * The maximum number of contracts in a page of a snapshot. If the participant rejects a page as too large or does not
   * respond in time, later pages are smaller.
   *
   * @defaultValue 500
   */
  readonly maxSnapshotPageSize?: number | undefined;
  /** The maximum number of updates per request, as for `ledger.updates`. */
  readonly maxPageSize?: UpdatesOptions['maxPageSize'];
  /** How long a request for new updates waits for one, in milliseconds, as for `ledger.updates`. */
  readonly idleTimeoutMs?: UpdatesOptions['idleTimeoutMs'];
  /**
   * The transport for changes, and for snapshots that the participant serves in no other way. Default: the transport of
   * the ledger.
   */
  readonly transport?: UpdatesOptions['transport'];
  /**
   * How to retry after a transient failure. Default: the policy of the ledger. If neither policy has `giveUpAfterMs`,
   * `liveContracts` retries without a time limit.
   */
  readonly retry?: RetryPolicy | undefined;
}

/** A ledger as the source of contracts, for one reading. */
export interface ContractsSource {
  readonly service: Service;
  /** The number of the reading among the feeds of the ledger. */
  readonly feed: number;
  readonly transport: Transport | undefined;
  readonly maxSnapshotPageSize: number;
  /** The options of the feed of changes. */
  readonly updates: Pick<UpdatesOptions, 'maxPageSize' | 'idleTimeoutMs' | 'transport'>;
  readonly retry: CompleteRetryPolicy;
  readonly report: Report;
  readonly success$: Observable<unknown>;
}

/**
 * Returns a function that makes the source for one reading, which may use another service of the same ledger, and be that of a
 * processor with a name. Throws a TypeError for invalid options, or if the `updates` of the ledger were replaced.
 *
 * @param defaults - the retry policy if neither the ledger nor the options have one
 */
export function contractsSource(
  ledger: LedgerReader,
  options: ContractsOptions,
  defaults?: RetryPolicy,
): (service?: Service, processor?: string) => ContractsSource {
  const { maxSnapshotPageSize = 500, maxPageSize, idleTimeoutMs } = options;
  checkOptions(options);
  checkPositive({ maxSnapshotPageSize }, true);
  const connection = requireConnection(ledger);
  const transport = options.transport ?? connection.transport;
  const retry = retryPolicy(retryPolicy(defaults, connection.retry), options.retry);
  return (service = connection.service, processor) => {
    const feed = service.learned.newFeed();
    return {
      service,
      feed,
      transport: transport === 'http' ? undefined : transport,
      maxSnapshotPageSize,
      updates: { maxPageSize, idleTimeoutMs, transport },
      retry,
      report: service.reportFor(feed, processor),
      success$: service.success$,
    };
  };
}
