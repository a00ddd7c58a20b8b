import { type Attributes, context } from '@opentelemetry/api';
import { defer, type Observable, tap } from 'rxjs';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { Service } from '../feed/Service.js';
import type { UpdatesOptions } from '../feed/UpdatesOptions.js';
import type { HttpRequest } from '../http/HttpPort.js';
import { bindLedger, createService } from '../ledger/createLedger.js';
import { withConnection } from '../ledger/connection.js';
import type { Ledger } from '../ledger/Ledger.js';
import type { LedgerOptions } from '../ledger/LedgerOptions.js';
import { createFollowers } from './lag.js';
import { createOperation, type Operation, type Tracing } from './Operation.js';
import { tracedProcess } from './process.js';
import { createRecorder, type Recorder, safely, type Telemetry } from './Recorder.js';
import { traceRequests } from './requests.js';
import { traceSockets } from './sockets.js';
import { tracedSubmission } from './submissions.js';
import { tracedUpdates } from './updates.js';

/**
 * Creates a ledger like `createLedger`, with spans and metrics through the OpenTelemetry API. Each request has a span
 * and sends `traceparent` to the participant, so that a submission is committed in the trace of its caller.
 *
 * Use it instead of `createLedger`. It assigns each request to its subscription, with or without a context manager
 * (browsers have none); a wrapper around a ledger could not do that.
 *
 * - The span of a request is a child of the span that was active at `subscribe`. The requests of a feed, which may have
 *   no end, are separate traces with a link to that span.
 * - The span of a submission lasts from its subscription to its outcome. Its requests are child spans, and it has a
 *   link to the trace of the committed transaction. Verifiers and signers run in it.
 * - Each call of a handler of `processFeed`, over an `updatesFeed` of this ledger, is a separate trace, linked to the
 *   traces in which its updates were submitted.
 * - Instrumentations of `fetch` create no spans for these requests.
 *
 * The program registers the SDK. Without an SDK, telemetry has almost no cost. Spans and metrics never contain a token,
 * a signature, a payload or an error message. An error in telemetry does not change the behavior of the ledger.
 *
 * @param options - the options of `createLedger`
 * @param telemetry - the providers of spans and metrics; default: those that the program has registered
 * @returns the ledger
 * @throws TypeError for the same invalid options as `createLedger`
 * @example
 * ```ts
 * import { createTracedLedger } from 'canton-rx/otel';
 *
 * const ledger = createTracedLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * ledger.ledgerEnd().subscribe((offset) => {
 *   console.log(`the ledger ends at ${offset}`);
 * });
 * ```
 *
 * @category Telemetry
 */
export function createTracedLedger(options: LedgerOptions, telemetry: Telemetry = {}): Ledger {
  const service = createService(options);
  const recorder = createRecorder(telemetry, serverAttributes(service.link.baseUrl));
  const plain = bindLedger(service, options);
  const tracing: Tracing = {
    plain,
    serviceFor: (operation) => tracedService(service, operation, recorder),
    ledgerFor: (operation) => bindLedger(tracing.serviceFor(operation), options),
    recorder,
    followers: createFollowers(recorder),
    handlerSpans: telemetry.handlerSpans ?? true,
  };
  const singleRequest = <A>(call: (ledger: Ledger) => Observable<A>): Observable<A> =>
    defer(() => {
      const outer = context.active();
      return call(tracing.ledgerFor(createOperation(tracing, { context: () => outer })));
    });
  const updates = (request: UpdatesRequest, updatesOptions: UpdatesOptions = {}) =>
    tracedUpdates(tracing, request, updatesOptions);
  const ledger: Ledger = {
    // the overloads of a ledger differ only in how the types of their arguments relate
    updates: updates as Ledger['updates'],
    submit: (request, signer, submitOptions) =>
      tracedSubmission(tracing, 'submit', { 'canton.command.id': request.commandId }, (ledger) =>
        ledger.submit(request, signer, submitOptions),
      ),
    executeAndWaitForTransaction: (request, executeOptions) =>
      tracedSubmission(tracing, 'execute', {}, (ledger) =>
        ledger.executeAndWaitForTransaction(request, executeOptions),
      ),
    prepare: (request) => singleRequest((ledger) => ledger.prepare(request)),
    ledgerEnd: () => singleRequest((ledger) => ledger.ledgerEnd()),
    diagnostics$: plain.diagnostics$,
  };
  const { retry, transport } = options;
  return withConnection(ledger, { service, retry, transport, runProcessor: (run) => tracedProcess(tracing, run) });
}

/**
 * Returns the service of a ledger for one operation: its requests are traced, and its diagnostics are passed to the
 * operation and to the ledger. What feeds learn about the participant is shared.
 */
function tracedService(service: Service, operation: Operation, recorder: Recorder): Service {
  const statuses = new WeakMap<HttpRequest, number>();
  const { link } = service;
  const tracedLink = {
    ...link,
    port: (request: HttpRequest) =>
      link.port(request).pipe(
        tap(({ status }) => {
          statuses.set(request, status);
        }),
      ),
    socketInterceptor: traceSockets(operation, recorder, link.baseUrl),
    interceptor: traceRequests(operation, recorder, (request) => statuses.get(request)),
  };
  return service.withLink(tracedLink, (diagnostic) => {
    safely(() => {
      operation.onDiagnostic(diagnostic);
    });
  });
}

/** Returns the attributes that identify a ledger: the address and port of its server. */
function serverAttributes(baseUrl: string): Attributes {
  const { hostname, port, protocol } = new URL(baseUrl);
  const defaultPort = protocol === 'https:' ? 443 : 80;
  // an IPv6 address without the brackets of a URL
  const address = hostname.replace(/^\[|\]$/g, '');
  return { 'server.address': address, 'server.port': port === '' ? defaultPort : Number(port) };
}
