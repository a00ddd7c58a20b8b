import { type Attributes, context } from '@opentelemetry/api';
import type { Interceptor, InterceptedParts, LedgerInfo } from '../client/Interceptor.js';
import { countDiagnostic } from '../diagnostics/metrics.js';
import { traceFeed } from './feeds.js';
import { Followers } from './Followers.js';
import { Recorder, type Telemetry } from './Recorder.js';
import { traceParts, type Tracing } from './requests.js';
import { traceSubmission } from './submissions.js';

/**
 * Returns the interceptor which adds spans and metrics through the OpenTelemetry API. Each request has a span and sends
 * `traceparent` to the participant, so that a submission is committed in the trace of its caller.
 *
 * - The span of a request is a child of the span that was active at `subscribe`, with or without a context manager (browsers
 *   have none). The requests of a feed, which may have no end, are separate traces with a link to that span.
 * - The span of a submission lasts from its subscription to its outcome. Its requests are child spans, and it has a
 *   link to the trace of the committed transaction. Verifiers and signers run in it.
 * - Each submission of a rule of `automate` is a separate trace, linked to the trace in which the contract was created.
 * - Each call of a handler of `processFeed`, over a feed of this ledger, is a separate trace, linked to the traces in which its
 *   updates were submitted.
 * - Instrumentations of `fetch` create no spans for these requests.
 *
 * The program registers the SDK. Without an SDK, telemetry has almost no cost. Spans and metrics never contain a token,
 * a signature, a payload or an error message. An error in telemetry does not change the behavior of the ledger.
 *
 * @param telemetry - the providers of spans and metrics; default: those that the program has registered
 * @returns the interceptor, for the option `interceptors` of one or more ledgers
 * @example
 * ```ts
 * import { createLedger } from 'canton-rx';
 * import { openTelemetry } from 'canton-rx/otel';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575', interceptors: [openTelemetry()] });
 * ledger.ledgerEnd().subscribe((offset) => {
 *   console.log(`the ledger ends at ${offset}`);
 * });
 * ```
 *
 * @category Telemetry
 */
export const openTelemetry = (telemetry: Telemetry = {}): Interceptor => ({
  forLedger: (ledger) => traceLedger(telemetry, ledger),
});

/** Returns the interceptor of one ledger, whose feeds share the gauges of their lag. */
function traceLedger(telemetry: Telemetry, ledger: LedgerInfo): Interceptor {
  const recorder = new Recorder(telemetry, () => serverAttributes(ledger.address));
  const followers = new Followers(recorder);
  const { handlerSpans = true } = telemetry;
  const tracing: Tracing = { recorder, followers, handlerSpans };
  return {
    // requests that belong to no subscription of a program, such as those of a rule
    ...traceParts(tracing, { context: () => context.active(), isFeed: false }),
    report: (diagnostic) => {
      followers.count();
      countDiagnostic(recorder, diagnostic);
    },
    feed: (call) => traceFeed(tracing, call),
    submission: (call) => traceSubmission(tracing, call),
    read: (): InterceptedParts => {
      const outer = context.active();
      return traceParts(tracing, { context: () => outer, isFeed: false });
    },
  };
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
