import { defer, type Observable } from 'rxjs';
import type { Update } from '../codecs/Update.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import { checkOptions } from '../feed/checkOptions.js';
import { feedOf } from '../feed/feedOf.js';
import type { InvalidUpdate } from '../feed/InvalidUpdate.js';
import { reportTo } from '../events/Report.js';
import { ledgerEnd } from '../feed/ledgerEnd.js';
import { updates } from '../feed/updates.js';
import type { UpdatesOptions } from '../feed/UpdatesOptions.js';
import type { Committed } from '../process/Committed.js';
import type { BatchHandler, Handler } from '../process/Handler.js';
import { process } from '../process/process.js';
import type { AnyProcessOptions, BatchProcessOptions, ProcessOptions } from '../process/ProcessOptions.js';
import { executor } from '../submission/executor.js';
import { prepare } from '../submission/prepare.js';
import { submit } from '../submission/submit.js';
import type { Ledger } from './Ledger.js';
import type { LedgerOptions } from './LedgerOptions.js';
import { serviceOf } from './serviceOf.js';

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
  const service = serviceOf(options);
  function read(request: UpdatesRequest, how?: UpdatesOptions & { readonly onInvalid?: 'fail' }): Observable<Update>;
  function read(request: UpdatesRequest, how: UpdatesOptions): Observable<Update | InvalidUpdate>;
  function read(request: UpdatesRequest, how: UpdatesOptions = {}): Observable<Update | InvalidUpdate> {
    checkOptions(how);
    return defer(() => {
      const report = reportTo(service.events, (service.feeds += 1));
      return updates(feedOf(service, request, how, options.retry, report));
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
    return process(service, request, { handle }, how, options.retry);
  }
  return {
    updates: read,
    process: work,
    executeAndWaitForTransaction: (request, how = {}) => executor(service, how, options.retry)(request),
    submit: (request, signer, how) => submit(service, request, signer, how, options.retry),
    prepare: (request) => prepare(service.link, request),
    ledgerEnd: () => ledgerEnd(service.link),
    events$: service.events.asObservable(),
  };
}
