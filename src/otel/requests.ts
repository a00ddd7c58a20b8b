import { type Attributes, type Context, createContextKey, SpanKind, trace } from '@opentelemetry/api';
import { defer, map, tap } from 'rxjs';
import type { Diagnostic } from '../diagnostics/Diagnostic.js';
import type { Service } from '../feed/Service.js';
import { toConnectionError } from '../http/exchange.js';
import { type HttpRequest, pathOf } from '../http/HttpPort.js';
import type { Call, Interceptor, Link, SocketInterceptor } from '../http/Link.js';
import type { Ledger } from '../ledger/Ledger.js';
import { countDiagnostic, type Followers } from './metrics.js';
import { endSpan, type Recorder, safely, stopwatch } from './Recorder.js';
import { headersFor, inContext, linksToActive, onOutcome } from './traceContext.js';

/** What sends requests: one use of a ledger, such as a subscription to a feed. */
interface Sender {
  /** The context in which requests are sent and results are emitted. */
  readonly context: () => Context;
  /** Whether each request is a separate trace, linked to that of the subscriber, because a feed may have no end. */
  readonly isFeed: boolean;
  /** The attributes of its spans and metrics, in addition to those of the ledger. */
  readonly attributes?: Attributes;
  /** Receives its diagnostics. */
  readonly onDiagnostic?: (diagnostic: Diagnostic) => void;
}

/** A ledger with telemetry. Its parts are used by what sends requests: feeds, submissions and single requests. */
export interface Tracing {
  /** The ledger without telemetry. */
  readonly plain: Ledger;
  /** Returns the service of the ledger for one sender. */
  readonly serviceFor: (sender: Sender) => Service;
  /** Returns the ledger for one sender. */
  readonly ledgerFor: (sender: Sender) => Ledger;
  readonly recorder: Recorder;
  readonly followers: Followers;
  /** Whether each call of a handler has a span. */
  readonly handlerSpans: boolean;
}

type Metrics = Pick<Tracing, 'recorder' | 'followers'>;

/** Returns the service of a ledger whose diagnostics are counted before the ledger reports them. */
export const countedService = (
  service: Service,
  { recorder, followers }: Metrics,
  link: Omit<Link, 'report'> = service.link,
  onDiagnostic?: Sender['onDiagnostic'],
): Service =>
  service.withLink(link, (diagnostic) => {
    safely(() => {
      followers.count();
      countDiagnostic(recorder, diagnostic);
      onDiagnostic?.(diagnostic);
    });
  });

/** Returns the service of a ledger for one sender: its requests have spans. What feeds learn of the participant is shared. */
export function tracedService(service: Service, sender: Sender, metrics: Metrics): Service {
  const statuses = new WeakMap<HttpRequest, number>();
  const { link } = service;
  const port = (request: HttpRequest) =>
    link.port(request).pipe(
      tap(({ status }) => {
        statuses.set(request, status);
      }),
    );
  const interceptor = traceRequests(sender, metrics, (request) => statuses.get(request));
  const socketInterceptor = traceSockets(sender, metrics.recorder);
  return countedService(service, metrics, { ...link, port, interceptor, socketInterceptor }, sender.onDiagnostic);
}

/**
 * Traces the requests of a sender: starts a span for each, sends its context in the headers, and measures it.
 *
 * @param statusOf - returns the HTTP status of a response, if there was one
 */
const traceRequests =
  (
    sender: Sender,
    { recorder, followers }: Metrics,
    statusOf: (request: HttpRequest) => number | undefined,
  ): Interceptor =>
  (call, request, send, read) =>
    defer(() => {
      const isPoll = updatesPaths.includes(call.path);
      const name = isPoll ? 'poll updates' : `${request.method} ${call.path}`;
      const { span, inner, outer } = startClientSpan(name, sender, recorder, {
        'http.request.method': request.method,
        'url.full': request.url,
        'url.template': call.path,
        ...(isPoll && pollAttributes(call)),
      });
      const traced = { ...request, headers: { ...request.headers, ...headersFor(inner) } };
      const elapsed = stopwatch();
      return send(traced).pipe(
        // the time to decode the response is not part of the duration
        map((json) => ({ json, seconds: elapsed(), value: read(json) })),
        onOutcome((outcome) => {
          const { json, seconds, value } = outcome.value ?? { json: undefined, seconds: elapsed(), value: undefined };
          const error = outcome.how === 'failed' ? outcome.error : failureOf(value);
          const status = statusOf(traced);
          const page = isPoll ? pageAttributes(json) : {};
          const common: Attributes = {
            ...(status !== undefined && { 'http.response.status_code': status }),
            ...(error !== undefined && { 'error.type': recorder.errorType(error) }),
            'canton_rx.result': resultOf(outcome.how, error, page),
          };
          const measured = { ...sender.attributes, 'url.template': call.path, ...common };
          recorder.measure('request.duration', seconds, { ...measured, 'http.request.method': call.method });
          if (isPoll) recorder.measure('polls', 1, measured);
          endSpan(span, { ...common, ...page });
          const end = call.path === '/v2/state/ledger-end' ? fieldsOf(json)['offset'] : undefined;
          if (typeof end === 'number') followers.ledgerEnd = end;
        }),
        map(({ value }) => value),
        inContext(inner.setValue(suppressTracing, true), outer),
      );
    });

/** Traces the WebSockets of a sender: starts a span for each upgrade, which ends when the socket is open. */
const traceSockets =
  (sender: Sender, recorder: Recorder): SocketInterceptor =>
  ({ url, path, headers }, open) =>
    defer(() => {
      const { span, inner, outer } = startClientSpan('open socket', sender, recorder, {
        'http.request.method': 'GET',
        'url.full': url,
        'url.template': path,
      });
      return open({ ...headers, ...headersFor(inner) }).pipe(
        onOutcome(({ how, error }) => {
          // a socket that completes before it is open has failed. The error is that of the diagnostics
          const hasFailed = how === 'failed' || how === 'completed';
          const cause = hasFailed ? toConnectionError(pathOf(url), error) : undefined;
          endSpan(span, cause === undefined ? {} : { 'error.type': recorder.errorType(cause) });
        }),
        inContext(inner, outer),
      );
    });

/**
 * Starts a span below the active one; that of a feed starts a trace, with a link to the active span. Returns it, the context in
 * which it is active, and the one in which results are emitted.
 */
function startClientSpan(name: string, sender: Sender, recorder: Recorder, attributes: Attributes) {
  const outer = sender.context();
  const options = {
    kind: SpanKind.CLIENT,
    root: sender.isFeed,
    links: sender.isFeed ? linksToActive(outer) : [],
    attributes: { ...sender.attributes, ...attributes },
  };
  const span = recorder.startSpan(name, options, outer);
  return { span, inner: trace.setSpan(outer, span), outer };
}

/**
 * The key by which instrumentations of `fetch` skip a request, which would otherwise have two spans and two
 * `traceparent` headers.
 */
const suppressTracing = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

/** The paths that serve updates. */
const updatesPaths: readonly string[] = ['/v2/updates/flats', '/v2/updates'];

/** Returns the error of a page whose first elements are valid. */
const failureOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'failure' in value && value.failure instanceof Error
    ? value.failure
    : undefined;

function resultOf(how: string, error: unknown, page: Attributes): 'failed' | 'empty' | 'answered' | 'aborted' {
  if (error !== undefined) return 'failed';
  if (how === 'unsubscribed') return 'aborted';
  return page['canton.updates.count'] === 0 ? 'empty' : 'answered';
}

/** Returns the range, the limit and the idle timeout of a request for updates. */
function pollAttributes({ query = {}, body }: Call): Attributes {
  const { beginExclusive, endInclusive } = fieldsOf(body);
  return numbers({
    'canton.updates.begin_exclusive': beginExclusive,
    'canton.updates.end_inclusive': endInclusive,
    'canton.updates.limit': query['limit'],
    'canton.updates.idle_timeout_ms': query['stream_idle_timeout_ms'],
  });
}

/** Returns the number of elements in the response to a request for updates, and the offset of the last one. */
function pageAttributes(json: unknown): Attributes {
  if (!Array.isArray(json)) return {};
  // before it is decoded, an element is `{"update": {"Transaction": {"value": {"offset": 7}}}}`
  const [variant] = Object.values(fieldsOf(fieldsOf(json.at(-1))['update']));
  const last = fieldsOf(fieldsOf(variant)['value'])['offset'];
  return numbers({ 'canton.updates.count': json.length, 'canton.updates.last_offset': last });
}

const fieldsOf = (u: unknown): Readonly<Record<string, unknown>> => ({ ...(typeof u === 'object' ? u : undefined) });

/** Returns the attributes that are numbers. */
const numbers = (values: Readonly<Record<string, unknown>>): Attributes =>
  Object.fromEntries(Object.entries(values).filter((entry): entry is [string, number] => typeof entry[1] === 'number'));
