import { type Attributes, context } from '@opentelemetry/api';
import { defer, type Observable } from 'rxjs';
import type { CommandsRequest } from '../codecs/CommandsRequest.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { UpdatesOptions } from '../feed/UpdatesOptions.js';
import { bindLedger, createService } from '../ledger/createLedger.js';
import { actionOf, withConnection } from '../ledger/connection.js';
import type { Ledger } from '../ledger/Ledger.js';
import type { LedgerOptions } from '../ledger/createLedger.js';
import { traceProcessor, traceUpdates } from './feeds.js';
import { countAction, Followers } from './metrics.js';
import { createRecorder, safely, type Telemetry } from './Recorder.js';
import { tracedService, type Tracing } from './requests.js';
import { traceSubmission } from './submissions.js';

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
 * - Each submission of a rule of `automate` is a separate trace, linked to the trace in which the contract was created.
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
  const plain = bindLedger(service, options);
  const recorder = createRecorder(telemetry, serverAttributes(service.link.baseUrl));
  const followers = new Followers(recorder);
  const serviceFor: Tracing['serviceFor'] = (sender, onDiagnostic) =>
    tracedService(service, sender, { recorder, followers }, onDiagnostic);
  const ledgerFor: Tracing['ledgerFor'] = (...sender) => bindLedger(serviceFor(...sender), options);
  const handlerSpans = telemetry.handlerSpans ?? true;
  const tracing: Tracing = { plain, serviceFor, ledgerFor, recorder, followers, handlerSpans };
  const traced = <A>(isFeed: boolean, call: (ledger: Ledger) => Observable<A>): Observable<A> =>
    defer(() => {
      const outer = context.active();
      return call(ledgerFor({ context: () => outer, isFeed, attributes: {} }));
    });
  const updates = (request: UpdatesRequest, updatesOptions: UpdatesOptions = {}) =>
    traceUpdates(tracing, request, updatesOptions);
  const ledger: Ledger = {
    // the overloads of a ledger differ only in how the types of their arguments relate
    updates: updates as Ledger['updates'],
    completions: (request, completionsOptions) => {
      // throws for invalid options
      void plain.completions(request, completionsOptions);
      return traced(true, (its) => its.completions(request, completionsOptions));
    },
    submit: (request, signer, submitOptions) =>
      traceSubmission(tracing, 'submit', { 'canton.command.id': request.commandId }, (traced) =>
        traced.submit(request, signer, submitOptions),
      ),
    submitAndWaitForTransaction: (request, commandsOptions) => {
      const action = actionOf(request);
      const name = action === undefined ? 'submit commands' : `act ${action.rule}`;
      const submit = (traced: Ledger) => traced.submitAndWaitForTransaction(request, commandsOptions);
      return traceSubmission(tracing, name, commandAttributes(request), submit, action);
    },
    executeAndWaitForTransaction: (request, executeOptions) =>
      traceSubmission(tracing, 'execute', {}, (traced) => traced.executeAndWaitForTransaction(request, executeOptions)),
    prepare: (request) => traced(false, (its) => its.prepare(request)),
    ledgerEnd: () => traced(false, (its) => its.ledgerEnd()),
    parties: () => traced(false, (its) => its.parties()),
    diagnostics$: plain.diagnostics$,
  };
  const { retry, transport } = options;
  const counted = service.withLink(service.link, (diagnostic) => {
    safely(() => {
      countAction(recorder, diagnostic);
    });
  });
  return withConnection(ledger, {
    service: counted,
    retry,
    transport,
    runProcessor: (run) => traceProcessor(tracing, run),
  });
}

/** The command id, unless each subscription has its own. */
const commandAttributes = ({ commandId }: CommandsRequest): Attributes =>
  commandId == null ? {} : { 'canton.command.id': commandId };

/** Returns the attributes that identify a ledger: the address and port of its server. */
function serverAttributes(baseUrl: string): Attributes {
  const { hostname, port, protocol } = new URL(baseUrl);
  const defaultPort = protocol === 'https:' ? 443 : 80;
  // an IPv6 address without the brackets of a URL
  const address = hostname.replace(/^\[|\]$/g, '');
  return { 'server.address': address, 'server.port': port === '' ? defaultPort : Number(port) };
}
