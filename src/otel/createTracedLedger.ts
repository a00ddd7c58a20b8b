import { type Attributes, context } from '@opentelemetry/api';
import { defer, type Observable, tap } from 'rxjs';
import type { Update } from '../codecs/Update.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import { type Listeners, reportTo } from '../diagnostics/Diagnostic.js';
import type { Service } from '../feed/Service.js';
import type { InvalidUpdate, UpdatesOptions } from '../feed/UpdatesOptions.js';
import type { HttpRequest } from '../http/HttpPort.js';
import { ledgerOf, serviceOf } from '../ledger/createLedger.js';
import type { Ledger } from '../ledger/Ledger.js';
import type { LedgerOptions } from '../ledger/LedgerOptions.js';
import type {
  AnyProcessOptions,
  BatchHandler,
  BatchProcessOptions,
  Committed,
  Handler,
  ProcessOptions,
} from '../process/ProcessOptions.js';
import type { AnyHandler } from './handler.js';
import { followersOf } from './lag.js';
import { type Operation, operationOf, type Tracing } from './Operation.js';
import { tracedProcess } from './process.js';
import { type Recorder, recorderOf, safely, type Telemetry } from './Recorder.js';
import { requestsOf } from './requests.js';
import { socketsOf } from './sockets.js';
import { tracedSubmission } from './submissions.js';
import { tracedUpdates } from './updates.js';

/**
 * A ledger as that of `createLedger`, with spans and metrics of what it does, by the API of OpenTelemetry. Each request is
 * a span and carries `traceparent` to the participant, so that what is submitted is committed in the caller's trace.
 *
 * It is made in place of a ledger, and not beside one, since only so each request is known to belong to a subscription and
 * to its span; with a context manager or without one, as in browsers.
 *
 * - A request is a child of the span that was active at `subscribe`. Those of a feed, which may go on for ever, are traces
 *   of their own, with a link to it.
 * - A submission is a span from its subscription to its outcome, with its requests as children, linked to the trace of the
 *   committed transaction. Verifiers and signers run in it.
 * - Each call of a handler of `process` is a trace of its own, linked to the traces in which its updates were submitted.
 * - Nothing that instrumentations of `fetch` make of the same requests comes in addition.
 *
 * The program brings the SDK; without one, this does next to nothing. No span or metric has a token, a signature, contents
 * of a contract or words of an error. Telemetry that fails changes nothing for the ledger's user.
 *
 * @param options - as of `createLedger`
 * @param telemetry - where spans and metrics go; to what the program has registered by default
 * @throws TypeError as `createLedger` does
 * @example
 * ```ts
 * import { createTracedLedger } from 'canton-rx/otel';
 *
 * const ledger = createTracedLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * ledger.ledgerEnd().subscribe((offset) => {
 *   console.log(`the ledger ends at ${offset}`);
 * });
 * ```
 */
export function createTracedLedger(options: LedgerOptions, telemetry: Telemetry = {}): Ledger {
  const service = serviceOf(options);
  const recorder = recorderOf(telemetry, serverOf(service.link.baseUrl));
  const plain = ledgerOf(service, options.retry);
  const tracing: Tracing = {
    plain,
    ledgerFor: (operation) => ledgerOf(tracedService(service, operation, recorder), options.retry),
    recorder,
    followers: followersOf(recorder),
    handlerSpans: telemetry.handlerSpans ?? true,
  };
  /** What takes one request. */
  const asked = <A>(ask: (ledger: Ledger) => Observable<A>): Observable<A> =>
    defer(() => {
      const home = context.active();
      return ask(tracing.ledgerFor(operationOf(tracing, { context: () => home })));
    });
  function read(request: UpdatesRequest, how?: UpdatesOptions & { readonly onInvalid?: 'fail' }): Observable<Update>;
  function read(request: UpdatesRequest, how: UpdatesOptions): Observable<Update | InvalidUpdate>;
  function read(request: UpdatesRequest, how: UpdatesOptions = {}): Observable<Update | InvalidUpdate> {
    return tracedUpdates(tracing, request, how);
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
    handler: (work: never, tx: never) => unknown,
    how: AnyProcessOptions = {},
  ): Observable<Committed> {
    return tracedProcess(tracing, request, handler as AnyHandler, how);
  }
  return {
    updates: read,
    process: work,
    submit: (request, signer, how) =>
      tracedSubmission(tracing, 'submit', { 'canton.command.id': request.commandId }, (ledger) =>
        ledger.submit(request, signer, how),
      ),
    executeAndWaitForTransaction: (request, how) =>
      tracedSubmission(tracing, 'execute', {}, (ledger) => ledger.executeAndWaitForTransaction(request, how)),
    prepare: (request) => asked((ledger) => ledger.prepare(request)),
    ledgerEnd: () => asked((ledger) => ledger.ledgerEnd()),
    diagnostics$: plain.diagnostics$,
  };
}

/**
 * A ledger's service, as one operation is to see it: with requests of its own, and with events that come by here on their
 * way to the ledger's. All that feeds find out about the service they share.
 */
function tracedService(service: Service, operation: Operation, recorder: Recorder): Service {
  const events: Listeners = {
    observed: true,
    next: (event) => {
      safely(() => {
        operation.told(event);
      });
      service.diagnostics.next(event);
    },
    asObservable: () => service.diagnostics.asObservable(),
  };
  const statuses = new WeakMap<HttpRequest, number>();
  return {
    ...service,
    diagnostics: events,
    link: {
      ...service.link,
      report: reportTo(events),
      port: (request) =>
        service.link.port(request).pipe(
          tap(({ status }) => {
            statuses.set(request, status);
          }),
        ),
      socketPort: socketsOf(operation, recorder, service.link),
      around: requestsOf(operation, recorder, (request) => statuses.get(request)),
    },
    get feeds() {
      return service.feeds;
    },
    set feeds(count) {
      service.feeds = count;
    },
  };
}

/** By which one ledger is told from another: the server at which it is. */
export function serverOf(baseUrl: string): Attributes {
  const { hostname, port, protocol } = new URL(baseUrl);
  const usual = protocol === 'https:' ? 443 : 80;
  // IPv6 without the brackets of a URL
  return { 'server.address': hostname.replace(/^\[|\]$/g, ''), 'server.port': port === '' ? usual : Number(port) };
}
