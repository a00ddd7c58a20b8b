import {
  type Attributes,
  type Context,
  createContextKey,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { defer, map, tap } from 'rxjs';
import type { HttpRequest } from '../http/HttpPort.js';
import type { Call, Interceptor } from '../http/Link.js';
import { type Operation, parentOptions } from './Operation.js';
import { once, type Recorder, safely, stopwatch } from './Recorder.js';
import { headersFor, inContext } from './traceContext.js';

/** The result of a request. It has neither `json` nor `error` if its subscriber unsubscribed before the response. */
interface RequestOutcome {
  /** The HTTP status, if there was a response. */
  readonly status: number | undefined;
  readonly json?: unknown;
  readonly error?: unknown;
}

/** Traces the requests of an operation: starts a span for each, sends its context in the headers, and measures it. */
export const traceRequests =
  (operation: Operation, recorder: Recorder, statusOf: (request: HttpRequest) => number | undefined): Interceptor =>
  (call, request, send, read) =>
    defer(() => {
      const outer = operation.context();
      const span = startRequestSpan(call, request, outer, operation, recorder);
      const inner = trace.setSpan(outer, span);
      const tracedRequest = { ...request, headers: { ...request.headers, ...headersFor(inner) } };
      const elapsed = stopwatch();
      // once, because a subscriber may unsubscribe when it receives the response
      const end = once((outcome: Omit<RequestOutcome, 'status'>, seconds: number = elapsed()) => {
        endRequestSpan(span, call, { ...outcome, status: statusOf(tracedRequest) }, seconds, operation, recorder);
      });
      return send(tracedRequest).pipe(
        // the time to decode the response is not part of the duration
        map((json) => ({ json, seconds: elapsed(), value: read(json) })),
        tap({
          next: ({ json, seconds, value }) => {
            end({ json, ...pageFailure(value) }, seconds);
            safely(() => {
              operation.onAnswer(call.path, json);
            });
          },
          error: (error: unknown) => {
            end({ error });
          },
          unsubscribe: () => {
            end({});
          },
        }),
        map(({ value }) => value),
        inContext(inner.setValue(suppressTracing, true), outer),
      );
    });

/**
 * The key by which instrumentations of `fetch` skip a request, which would otherwise have two spans and two
 * `traceparent` headers.
 */
const suppressTracing = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

/** Returns the error of a page whose first elements are valid. */
const pageFailure = (value: unknown): Pick<RequestOutcome, 'error'> | undefined =>
  typeof value === 'object' && value !== null && 'failure' in value && value.failure instanceof Error
    ? { error: value.failure }
    : undefined;

/** The paths that serve updates. */
const updatesPaths: readonly string[] = ['/v2/updates/flats', '/v2/updates'];

function startRequestSpan(
  call: Call,
  { method, url }: HttpRequest,
  outer: Context,
  operation: Operation,
  recorder: Recorder,
): Span {
  const isPoll = updatesPaths.includes(call.path);
  return recorder.startSpan(
    isPoll ? 'poll updates' : `${method} ${call.path}`,
    {
      kind: SpanKind.CLIENT,
      ...parentOptions(outer, operation),
      attributes: {
        'http.request.method': method,
        'url.full': url,
        'url.template': call.path,
        ...recorder.ledger,
        ...operation.attributes,
        ...(isPoll && pollAttributes(call)),
      },
    },
    outer,
  );
}

/** Returns the range, the limit and the idle timeout of a request for updates. */
function pollAttributes({ query = {}, body }: Call): Attributes {
  const { beginExclusive, endInclusive } = fieldsOf(body);
  return {
    ...(typeof beginExclusive === 'number' && { 'canton.updates.begin_exclusive': beginExclusive }),
    ...(typeof endInclusive === 'number' && { 'canton.updates.end_inclusive': endInclusive }),
    ...(query['limit'] !== undefined && { 'canton.updates.limit': query['limit'] }),
    ...(query['stream_idle_timeout_ms'] !== undefined && {
      'canton.updates.idle_timeout_ms': query['stream_idle_timeout_ms'],
    }),
  };
}

/** Ends the span of a request and records its measurements. */
function endRequestSpan(
  span: Span,
  call: Call,
  outcome: RequestOutcome,
  seconds: number,
  { attributes }: Operation,
  { measure, errorType }: Recorder,
): void {
  const { status } = outcome;
  const isPoll = updatesPaths.includes(call.path);
  const outcomeAttributes: Attributes = {
    ...(status !== undefined && { 'http.response.status_code': status }),
    ...('error' in outcome && { 'error.type': errorType(outcome.error) }),
  };
  const page = isPoll && 'json' in outcome ? pageAttributes(outcome.json) : {};
  const result = resultOf(outcome, page['canton.updates.count']);
  measure(({ requests, polls }, ledger) => {
    const common = { ...ledger, ...attributes, 'url.template': call.path, ...outcomeAttributes };
    requests.record(seconds, { 'http.request.method': call.method, ...common, 'canton_rx.result': result });
    if (isPoll) polls.add(1, { ...common, 'canton_rx.result': result });
  });
  safely(() => {
    span.setAttributes({ ...outcomeAttributes, ...page, 'canton_rx.result': result });
    if (result === 'failed') span.setStatus({ code: SpanStatusCode.ERROR });
  });
  safely(() => {
    span.end();
  });
}

function resultOf(outcome: RequestOutcome, count: unknown): 'failed' | 'empty' | 'answered' | 'aborted' {
  if ('error' in outcome) return 'failed';
  if ('json' in outcome) return count === 0 ? 'empty' : 'answered';
  return 'aborted';
}

/** Returns the number of elements in the response to a request for updates, and the offset of the last one. */
function pageAttributes(json: unknown): Attributes {
  if (!Array.isArray(json)) return {};
  const elements: readonly unknown[] = json;
  const last = offsetOf(elements.at(-1));
  return {
    'canton.updates.count': elements.length,
    ...(last !== undefined && { 'canton.updates.last_offset': last }),
  };
}

/** Returns the offset of an element before it is decoded: `{"update": {"Transaction": {"value": {"offset": 7}}}}`. */
function offsetOf(element: unknown): number | undefined {
  const [variant] = Object.values(fieldsOf(fieldsOf(element)['update']));
  const { offset } = fieldsOf(fieldsOf(variant)['value']);
  return typeof offset === 'number' ? offset : undefined;
}

const fieldsOf = (u: unknown): Readonly<Record<string, unknown>> => ({ ...(typeof u === 'object' ? u : undefined) });
