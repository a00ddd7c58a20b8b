import { defer, type Observable } from 'rxjs';
import type { Update } from '../codecs/Update.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import { checkOptions } from '../feed/checkOptions.js';
import { feedOf } from '../feed/feedOf.js';
import type { InvalidUpdate } from '../feed/InvalidUpdate.js';
import { reportTo } from '../events/Report.js';
import { ledgerEnd } from '../feed/ledgerEnd.js';
import { updates } from '../feed/updates.js';
import type { Service } from '../feed/Service.js';
import type { UpdatesOptions } from '../feed/UpdatesOptions.js';
import type { RetryPolicy } from '../http/RetryPolicy.js';
import type { Committed } from '../process/Committed.js';
import type { BatchHandler, Handler } from '../process/Handler.js';
import { process } from '../process/process.js';
import type { AnyProcessOptions, BatchProcessOptions, ProcessOptions } from '../process/ProcessOptions.js';
import { executor } from '../submission/executor.js';
import { prepare } from '../submission/prepare.js';
import { submit } from '../submission/submit.js';
import type { Ledger } from './Ledger.js';

/** The ledger behind a service, with the policy by which its requests are retried where they have none of their own. */
export function ledgerOf(service: Service, retry: RetryPolicy | undefined): Ledger {
  function read(request: UpdatesRequest, how?: UpdatesOptions & { readonly onInvalid?: 'fail' }): Observable<Update>;
  function read(request: UpdatesRequest, how: UpdatesOptions): Observable<Update | InvalidUpdate>;
  function read(request: UpdatesRequest, how: UpdatesOptions = {}): Observable<Update | InvalidUpdate> {
    checkOptions(how);
    return defer(() => {
      const report = reportTo(service.events, (service.feeds += 1));
      return updates(feedOf(service, request, how, retry, report));
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
    events$: service.events.asObservable(),
  };
}
