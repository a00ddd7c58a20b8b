import { defer, type Observable, Subject } from 'rxjs';
import type { Update } from '../codecs/Update.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import { type Diagnostic, reportTo } from '../diagnostics/Diagnostic.js';
import { createFeed } from '../feed/Feed.js';
import { ledgerEnd } from '../feed/ledgerEnd.js';
import type { Service } from '../feed/Service.js';
import { updates } from '../feed/updates.js';
import { checkOptions, type InvalidUpdate, type UpdatesOptions } from '../feed/UpdatesOptions.js';
import { kyPort } from '../http/kyPort.js';
import { checkPositive, retryPolicy, type RetryPolicy } from '../http/retry.js';
import { webSocketPort } from '../http/webSocketPort.js';
import { process } from '../process/process.js';
import type {
  AnyProcessOptions,
  BatchHandler,
  BatchProcessOptions,
  Committed,
  Handler,
  ProcessOptions,
} from '../process/ProcessOptions.js';
import { executor } from '../submission/execute.js';
import { prepare, submit } from '../submission/submit.js';
import type { Ledger } from './Ledger.js';
import type { LedgerOptions } from './LedgerOptions.js';

/**
 * The ledger of the participant at an address. Sends nothing by itself.
 *
 * @throws TypeError for an address that is no URL
 * @example
 * ```ts
 * import { createLedger } from 'canton-rx';
 *
 * const ledger = createLedger({
 *   baseUrl: 'http://127.0.0.1:7575',
 *   token: () => Promise.resolve('a-token-of-a-few-minutes'),
 * });
 * ledger.ledgerEnd().subscribe((offset) => {
 *   console.log(`the ledger ends at ${offset}`);
 * });
 * ```
 */
export function createLedger(options: LedgerOptions): Ledger {
  return ledgerOf(serviceOf(options), options.retry);
}

/** The ledger behind a service, with the policy by which its requests are retried where they have none of their own. */
export function ledgerOf(service: Service, retry: RetryPolicy | undefined): Ledger {
  function read(request: UpdatesRequest, how?: UpdatesOptions & { readonly onInvalid?: 'fail' }): Observable<Update>;
  function read(request: UpdatesRequest, how: UpdatesOptions): Observable<Update | InvalidUpdate>;
  function read(request: UpdatesRequest, how: UpdatesOptions = {}): Observable<Update | InvalidUpdate> {
    checkOptions(how);
    return defer(() => {
      const report = reportTo(service.diagnostics, (service.feeds += 1));
      return updates(createFeed(service, request, how, retry, report));
    });
  }
  function work<Tx = void>(
    request: UpdatesRequest,
    handler: BatchHandler<NoInfer<Tx>>,
    how: BatchProcessOptions<Tx>,
  ): Observable<Committed>;
  function work<Tx = void>(
    request: UpdatesRequest,
    handler: Handler<NoInfer<Tx>>,
    how?: ProcessOptions<Tx>,
  ): Observable<Committed>;
  function work(
    request: UpdatesRequest,
    handle: (work: never, tx: unknown) => unknown,
    how: AnyProcessOptions = {},
  ): Observable<Committed> {
    checkOptions(how);
    return process(service, request, { handle }, how, retry);
  }
  return {
    updates: read,
    process: work,
    executeAndWaitForTransaction: (request, how = {}) => executor(service, how, retry)(request),
    submit: (request, signer, how) => submit(service, request, signer, how, retry),
    prepare: (request) => prepare(service.link, request),
    ledgerEnd: () => ledgerEnd(service.link),
    diagnostics$: service.diagnostics.asObservable(),
  };
}

/** The service that a ledger's options tell of, and of which nothing is known yet. */
export function serviceOf(options: LedgerOptions): Service {
  const { baseUrl, token, headers = {}, requestTimeoutMs = 30_000, updatesPath = 'auto' } = options;
  checkPositive({ requestTimeoutMs, maxAnswerBytes: options.maxAnswerBytes ?? 1 });
  retryPolicy(options.retry);
  const events = new Subject<Diagnostic>();
  return {
    link: {
      port: options.port ?? kyPort(options),
      socketPort: options.webSocket ?? webSocketPort(),
      baseUrl: addressOf(baseUrl),
      headers: headersOf(headers),
      token,
      requestTimeoutMs,
      report: reportTo(events),
    },
    diagnostics: events,
    feeds: 0,
    learned: {
      updatesPath: updatesPath === 'auto' ? '/v2/updates/flats' : updatesPath,
      maySwitch: updatesPath === 'auto',
      pageLimit: Infinity,
      longestPollMs: Infinity,
      longestRange: Infinity,
      endUntoldAt: -Infinity,
      socketEndedAt: 0,
      noSocketForMs: 0,
      socketFailures: 0,
    },
  };
}

function addressOf(baseUrl: string): string {
  // no credentials, query or hash: a path is added to it, and errors may show it
  if (!/^https?:\/\/[^@?#]+$/.test(baseUrl) || !URL.canParse(baseUrl))
    throw new TypeError('baseUrl is no plain http(s) URL');
  return baseUrl.replace(/\/+$/, '');
}

function headersOf(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  try {
    return Object.fromEntries(new Headers(headers));
  } catch {
    // the platform's own words would quote the value
    throw new TypeError('headers cannot be sent');
  }
}
