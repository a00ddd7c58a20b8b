import {
  type Attributes,
  type Context,
  createContextKey,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { asyncScheduler, defer, map, tap } from 'rxjs';
import type { Call } from '../http/exchange.js';
import type { HttpRequest } from '../http/HttpPort.js';
import type { Around } from '../http/Link.js';
import { type Operation, rootContext } from './Operation.js';
import { type Recorder, safely } from './Recorder.js';
import { headersFor, inContext } from './traceContext.js';

/** What has come of a request; nothing where its subscriber has left. */
interface Answered {
  /** The HTTP status, if there was an answer. */
  readonly status: number | undefined;
  readonly json?: unknown;
  readonly error?: unknown;
}

/** By which instrumentations of `fetch` know what is traced already: it would be twice, with two `traceparent`. */
const suppressTracing = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

/** Gives each request of an operation a span, sends the span's context along, and measures what comes of it. */
export const requestsOf =
  (operation: Operation, recorder: Recorder, statusOf: (request: HttpRequest) => number | undefined): Around =>
  (call, request, send, read) =>
    defer(() => {
      const home = operation.context();
      const span = startRequest(call, request, home, operation, recorder);
      const traced = trace.setSpan(home, span);
      const sent = { ...request, headers: { ...request.headers, ...headersFor(traced) } };
      const startedAt = asyncScheduler.now();
      let isOver = false;
      const elapsed = (): number => Math.max(0, asyncScheduler.now() - startedAt) / 1_000;
      const end = (outcome: Omit<Answered, 'status'>, seconds = elapsed()): void => {
        // who takes the answer may leave at once
        if (isOver) return;
        isOver = true;
        endRequest(span, call, { ...outcome, status: statusOf(sent) }, seconds, operation, recorder);
      };
      return send(sent).pipe(
        // what it takes to read is not the participant's
        map((json) => ({ json, seconds: elapsed(), value: read(json) })),
        tap({
          next: ({ json, seconds, value }) => {
            end({ json, ...flawOf(value) }, seconds);
            safely(() => {
              operation.answered(call.path, json);
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
        inContext(traced.setValue(suppressTracing, true), home),
      );
    });

/** The span of a request. */
function startRequest(
  call: Call,
  { method, url }: HttpRequest,
  home: Context,
  operation: Operation,
  recorder: Recorder,
): Span {
  return recorder.startSpan(
    isPoll(call) ? 'poll updates' : `${method} ${call.path}`,
    {
      kind: SpanKind.CLIENT,
      ...rootContext(home, operation),
      attributes: {
        'http.request.method': method,
        'url.full': url,
        'url.template': call.path,
        ...recorder.ledger,
        ...operation.attributes,
        ...(isPoll(call) && pollAttributes(call)),
      },
    },
    home,
  );
}

/** Whether updates are asked for. */
const isPoll = ({ path }: Pick<Call, 'path'>): boolean => path === '/v2/updates/flats' || path === '/v2/updates';

/** What a request for updates asks for. */
function pollAttributes({ query = {}, body }: Call): Attributes {
  const range: Readonly<Record<string, unknown>> = { ...(typeof body === 'object' ? body : undefined) };
  const { beginExclusive, endInclusive } = range;
  return {
    ...(typeof beginExclusive === 'number' && { 'canton.updates.begin_exclusive': beginExclusive }),
    ...(typeof endInclusive === 'number' && { 'canton.updates.end_inclusive': endInclusive }),
    ...(query['limit'] !== undefined && { 'canton.updates.limit': query['limit'] }),
    ...(query['stream_idle_timeout_ms'] !== undefined && {
      'canton.updates.idle_timeout_ms': query['stream_idle_timeout_ms'],
    }),
  };
}

/** Ends the span of a request, and measures it. */
function endRequest(
  span: Span,
  call: Call,
  answered: Answered,
  seconds: number,
  { attributes }: Operation,
  { measure, errorType }: Recorder,
): void {
  const { status } = answered;
  const facts: Attributes = {
    ...(status !== undefined && { 'http.response.status_code': status }),
    ...('error' in answered && { 'error.type': errorType(answered.error) }),
  };
  const page = isPoll(call) && 'json' in answered ? pageAttributes(answered.json) : {};
  const result = resultOf(answered, page['canton.updates.count']);
  measure(({ requests, polls }, ledger) => {
    const common = { ...ledger, ...attributes, 'url.template': call.path, ...facts };
    requests.record(seconds, { 'http.request.method': call.method, ...common, 'canton_rx.result': result });
    if (isPoll(call)) polls.add(1, { ...common, 'canton_rx.result': result });
  });
  safely(() => {
    span.setAttributes({ ...facts, ...page, 'canton_rx.result': result });
    if (result === 'failed') span.setStatus({ code: SpanStatusCode.ERROR });
  });
  safely(() => {
    span.end();
  });
}

/** What the answer to a request for updates has: how many elements, and where the last one stands. */
function pageAttributes(json: unknown): Attributes {
  if (!Array.isArray(json)) return {};
  const elements: readonly unknown[] = json;
  const last = offsetOf(elements.at(-1));
  return {
    'canton.updates.count': elements.length,
    ...(last !== undefined && { 'canton.updates.last_offset': last }),
  };
}

/** Undecoded: `{"update": {"Transaction": {"value": {"offset": 7}}}}`. */
function offsetOf(element: unknown): number | undefined {
  const [variant] = Object.values(fieldsOf(fieldsOf(element)['update']));
  const { offset } = fieldsOf(fieldsOf(variant)['value']);
  return typeof offset === 'number' ? offset : undefined;
}

const fieldsOf = (u: unknown): Readonly<Record<string, unknown>> => ({ ...(typeof u === 'object' ? u : undefined) });

function resultOf(answered: Answered, count: unknown): 'failed' | 'empty' | 'answered' | 'aborted' {
  if ('error' in answered) return 'failed';
  if ('json' in answered) return count === 0 ? 'empty' : 'answered';
  return 'aborted';
}

/** The error that stands behind what is good of a page. */
const flawOf = (value: unknown): Pick<Answered, 'error'> | undefined =>
  typeof value === 'object' && value !== null && 'failure' in value && value.failure instanceof Error
    ? { error: value.failure }
    : undefined;
