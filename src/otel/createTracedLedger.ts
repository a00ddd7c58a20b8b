import { type Attributes, context, type Context, SpanKind, type SpanOptions, trace } from '@opentelemetry/api';
import { defer, type Observable } from 'rxjs';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { Diagnostic } from '../diagnostics/Diagnostic.js';
import { isLedgerError } from '../errors/LedgerError.js';
import type { UpdatesAfter, UpdatesOptions } from '../feed/UpdatesOptions.js';
import { addressOf } from '../http/Link.js';
import { bindLedger, createService } from '../ledger/createLedger.js';
import { actionOf, type RuleAction, withConnection } from '../ledger/connection.js';
import type { Ledger } from '../ledger/Ledger.js';
import type { LedgerOptions } from '../ledger/createLedger.js';
import { traceProcessor, traceUpdates } from './feeds.js';
import { countUndecodable, Followers } from './metrics.js';
import { endSpan, Recorder, safely, stopwatch, type Telemetry } from './Recorder.js';
import { countedService, tracedService, type Tracing } from './requests.js';
import { inContext, linkTo, linksToActive, onOutcome, type Outcome } from './traceContext.js';

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
  const recorder = new Recorder(telemetry, () => serverAttributes(addressOf(service.link)));
  const followers = new Followers(recorder);
  const serviceFor: Tracing['serviceFor'] = (sender) => tracedService(service, sender, { recorder, followers });
  const ledgerFor: Tracing['ledgerFor'] = (sender) => bindLedger(serviceFor(sender), options);
  const handlerSpans = telemetry.handlerSpans ?? true;
  const tracing: Tracing = { plain, serviceFor, ledgerFor, recorder, followers, handlerSpans };
  const traced = <A>(isFeed: boolean, call: (ledger: Ledger) => Observable<A>): Observable<A> =>
    defer(() => {
      const outer = context.active();
      return call(ledgerFor({ context: () => outer, isFeed }));
    });
  const updates = (request: UpdatesRequest | UpdatesAfter, updatesOptions: UpdatesOptions = {}) =>
    traceUpdates(tracing, request, updatesOptions);
  const ledger: Ledger = {
    // the overloads of a ledger differ only in how the types of their arguments relate
    updates: updates as Ledger['updates'],
    completions: (request, completionsOptions) => {
      // throws for invalid options
      void plain.completions(request, completionsOptions);
      return traced(true, (its) => its.completions(request, completionsOptions));
    },
    submit: (request, ...rest) =>
      traceSubmission(tracing, { name: 'submit', commandId: request.commandId }, (its) => its.submit(request, ...rest)),
    submitAndWaitForTransaction: (request, ...rest) => {
      const action = actionOf(request);
      const name = action === undefined ? 'submit commands' : `act ${action.rule}`;
      return traceSubmission(tracing, { name, commandId: request.commandId, action }, (its) =>
        its.submitAndWaitForTransaction(request, ...rest),
      );
    },
    executeAndWaitForTransaction: (...args) =>
      traceSubmission(tracing, { name: 'execute' }, (its) => its.executeAndWaitForTransaction(...args)),
    prepare: (request) => traced(false, (its) => its.prepare(request)),
    ledgerEnd: () => traced(false, (its) => its.ledgerEnd()),
    offsetAt: (...args) => {
      // throws for an invalid time
      void plain.offsetAt(...args);
      return traced(false, (its) => its.offsetAt(...args));
    },
    parties: () => traced(false, (its) => its.parties()),
    diagnostics$: plain.diagnostics$,
  };
  const { retry, transport } = options;
  return withConnection(ledger, {
    service: countedService(service, { recorder, followers }),
    retry,
    transport,
    runProcessor: (run) => traceProcessor(tracing, run),
  });
}

/** Returns the attributes that identify a ledger: the address and port of its server. */
function serverAttributes(baseUrl: string | undefined): Attributes {
  if (baseUrl === undefined) return {};
  const { hostname, port, protocol } = new URL(baseUrl);
  const defaultPort = protocol === 'https:' ? 443 : 80;
  // an IPv6 address without the brackets of a URL
  const address = hostname.replace(/^\[|\]$/g, '');
  return { 'server.address': address, 'server.port': port === '' ? defaultPort : Number(port) };
}

/** What a submission is called in its span. */
interface Named {
  readonly name: string;
  /** Absent if each subscription has its own. */
  readonly commandId?: string | null | undefined;
  readonly action?: RuleAction | undefined;
}

/**
 * Returns a submission with telemetry. All its subscriptions share one ledger, because a submission that may have been
 * committed is repeated unchanged by the next subscription. Of concurrent subscriptions, the latest has the requests in
 * its trace.
 */
function traceSubmission(
  { ledgerFor, recorder }: Tracing,
  { name, commandId, action }: Named,
  submit: (ledger: Ledger) => Observable<SubmittedTransaction>,
): Observable<SubmittedTransaction> {
  let inner: Context | undefined;
  const onDiagnostic = (diagnostic: Diagnostic): void => {
    const span = inner && trace.getSpan(inner);
    const event = spanEvents[diagnostic._tag];
    if (event !== undefined) span?.addEvent(event, eventAttributes(diagnostic, recorder));
    if ('submissionId' in diagnostic) span?.setAttribute('canton.submission.id', diagnostic.submissionId);
  };
  const transaction$ = submit(ledgerFor({ context: () => inner ?? context.active(), isFeed: false, onDiagnostic }));
  return defer(() => {
    const outer = context.active();
    const options = action === undefined ? { attributes: {} } : actionOptions(action, outer);
    const attributes = { 'canton.command.id': commandId ?? undefined, ...options.attributes };
    const span = recorder.startSpan(name, { kind: SpanKind.INTERNAL, ...options, attributes }, outer);
    inner = trace.setSpan(outer, span);
    const elapsed = stopwatch();
    return transaction$.pipe(
      onOutcome((outcome) => {
        const { value: transaction, error } = outcome;
        const result = {
          'canton.submission.outcome': outcomeOf(outcome),
          ...(outcome.how === 'failed' && { 'error.type': recorder.errorType(error) }),
        };
        recorder.measure('submissions', 1, result);
        recorder.measure('submission.duration', elapsed(), result);
        countUndecodable(recorder, {}, error);
        if (transaction === undefined) {
          endSpan(span, result);
          return;
        }
        const link = linkTo(transaction);
        if (link !== undefined) safely(() => span.addLink(link));
        endSpan(span, { ...result, 'canton.update.id': transaction.updateId, 'canton.offset': transaction.offset });
      }),
      inContext(inner, outer),
    );
  });
}

/** The span of an action: in a separate trace, because a rule has no end, linked to those of its contract and of the rule. */
function actionOptions(action: RuleAction, outer: Context): SpanOptions {
  return {
    root: true,
    links: [linkTo(action) ?? [], ...linksToActive(outer)].flat(),
    attributes: { 'canton_rx.rule.name': action.rule, 'canton.contract.id': action.contractId },
  };
}

/** The events in the span of a submission, by diagnostic. */
const spanEvents: Readonly<Partial<Record<Diagnostic['_tag'], string>>> = {
  SubmissionPrepared: 'prepared',
  SubmissionVerified: 'verified',
  SubmissionSigned: 'signed',
  SubmissionSent: 'sent',
  SubmissionUnclear: 'unclear',
  RetryScheduled: 'retry',
};

const eventAttributes = (diagnostic: Diagnostic, recorder: Recorder): Attributes => ({
  ...(diagnostic._tag === 'SubmissionSent' && { 'canton.submission.attempt': diagnostic.attempt }),
  ...(diagnostic._tag === 'SubmissionUnclear' && { 'canton.submission.attempt': diagnostic.attempts }),
  ...('cause' in diagnostic && { 'error.type': recorder.errorType(diagnostic.cause) }),
  ...('delayMs' in diagnostic && { 'canton_rx.delay_ms': diagnostic.delayMs }),
});

/** The values of `canton.submission.outcome`, by error. */
const outcomes: Readonly<Partial<Record<string, string>>> = {
  SubmissionRejectedError: 'rejected',
  SubmissionExpiredError: 'expired',
  OutcomeUnknownError: 'unknown',
  NotSentError: 'not_sent',
  VerificationError: 'not_verified',
};

/** Returns the value of `canton.submission.outcome`; `failed` for any other error, such as the error of a signer. */
function outcomeOf({ how, error }: Outcome<SubmittedTransaction>): string {
  if (how === 'succeeded') return 'committed';
  if (how === 'unsubscribed') return 'abandoned';
  return (isLedgerError(error) ? outcomes[error._tag] : undefined) ?? 'failed';
}
