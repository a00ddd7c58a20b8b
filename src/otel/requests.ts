import { type Attributes, type Context, createContextKey, SpanKind, trace } from '@opentelemetry/api';
import type { InterceptedParts, RequestCall, RequestedRange, RequestOutcome } from '../client/Interceptor.js';
import type { Followers } from './Followers.js';
import { endSpan, type Recorder } from './Recorder.js';
import { between, headersFor, linksToActive } from './traceContext.js';

/** The sender of requests: one subscription of a program. */
interface Sender {
  /** The context in which requests are sent and results are emitted. */
  readonly context: () => Context;
  /** Whether each request is a separate trace, linked to that of the subscriber, because a feed may have no end. */
  readonly isFeed: boolean;
  /** The attributes of its spans and metrics, in addition to those of the ledger. */
  readonly attributes?: Attributes;
}

/** The telemetry of one ledger. */
export interface Tracing {
  readonly recorder: Recorder;
  readonly followers: Followers;
  /** Whether each call of a handler has a span. */
  readonly handlerSpans: boolean;
}

/** Traces the requests and sockets of a sender. */
export const traceParts = (tracing: Tracing, sender: Sender): Pick<InterceptedParts, 'request' | 'socket'> => ({
  request: (call) => traceRequest(tracing, sender, call),
  socket: ({ url, path }) => {
    const { span, inner, outer } = startClientSpan('open socket', sender, tracing.recorder, {
      'http.request.method': 'GET',
      'url.full': url,
      'url.template': path,
    });
    return {
      headers: headersFor(inner),
      ...between(inner, outer),
      end: ({ how, error }) => {
        endSpan(span, how === 'failed' ? { 'error.type': tracing.recorder.errorType(error) } : {});
      },
    };
  },
});

/** Starts a span for a request, sends its context in the headers, and measures it. */
function traceRequest({ recorder, followers }: Tracing, sender: Sender, { method, path, url, range }: RequestCall) {
  const isPoll = updatesPaths.includes(path);
  const template = templateOf(path);
  const { span, inner, outer } = startClientSpan(isPoll ? 'poll updates' : `${method} ${template}`, sender, recorder, {
    'http.request.method': method,
    'url.full': url,
    'url.template': template,
    ...(isPoll && range !== undefined && pollAttributes(range)),
  });
  return {
    headers: headersFor(inner),
    ...between(inner.setValue(suppressTracing, true), outer),
    end: (outcome: RequestOutcome): void => {
      const { status, error, durationMs, lastOffset } = outcome;
      const page = isPoll ? { 'canton.updates.count': outcome.count, 'canton.updates.last_offset': lastOffset } : {};
      const common: Attributes = {
        ...(status !== undefined && { 'http.response.status_code': status }),
        ...(error !== undefined && { 'error.type': recorder.errorType(error) }),
        'canton_rx.result': resultOf(outcome),
      };
      const measured = { ...sender.attributes, 'url.template': template, ...common };
      recorder.measure('request.duration', durationMs / 1_000, { ...measured, 'http.request.method': method });
      if (isPoll) recorder.measure('polls', 1, measured);
      endSpan(span, { ...common, ...page });
      if (path === '/v2/state/ledger-end' && lastOffset !== undefined) followers.ledgerEnd = lastOffset;
    },
  };
}

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

/** Returns the path without the name of a user: a service may read the rights of any number of them. */
const templateOf = (path: string): string => path.replace(/^(\/v2\/users\/)[^/]+/, '$1{user-id}');

function resultOf({ how, error, count }: RequestOutcome): 'failed' | 'empty' | 'answered' | 'aborted' {
  if (error !== undefined) return 'failed';
  if (how === 'unsubscribed') return 'aborted';
  return count === 0 ? 'empty' : 'answered';
}

/** Returns the range, the limit and the idle timeout of a request for updates. */
const pollAttributes = ({ beginExclusive, endInclusive, limit, idleTimeoutMs }: RequestedRange): Attributes => ({
  'canton.updates.begin_exclusive': beginExclusive,
  'canton.updates.end_inclusive': endInclusive,
  'canton.updates.limit': limit,
  'canton.updates.idle_timeout_ms': idleTimeoutMs,
});
