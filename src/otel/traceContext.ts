import {
  context,
  type Context,
  createTraceState,
  isSpanContextValid,
  type Link,
  propagation,
  type SpanContext,
  trace,
  type Attributes,
  SpanKind,
} from '@opentelemetry/api';
import type { TraceContext } from '../codecs/OffsetCheckpoint.js';
import { safely, endSpan, Recorder, type Telemetry } from './Recorder.js';
import type { HandlerCall, Interception } from '../client/Interceptor.js';
import { type AnyHandler, handlerWithin } from '../process/interceptHandler.js';
import type { BatchHandler, Handler } from '../process/ProcessOptions.js';

/**
 * A value that may contain the trace in which it was submitted, such as an update.
 *
 * @category Telemetry
 */
export interface Traced {
  /** The trace context; absent if the participant sends none. */
  readonly traceContext?: TraceContext;
}

/**
 * Returns the context in which an update was submitted. A span started in it continues the trace of the submission as a
 * child. Use {@link linkTo} instead if one trace would have many such spans, or if they start long after the
 * submission.
 *
 * @param update - any update; checkpoints and unknown variants have no trace
 * @param base - the context to which the span context is added; default: the active context
 * @returns the context, or `base` unchanged if the update has no trace
 * @example
 * ```ts
 * import { context, trace } from '@opentelemetry/api';
 * import type { Transaction } from 'canton-rx';
 * import { contextOf } from 'canton-rx/otel';
 *
 * export const notify = (transaction: Transaction, send: () => void): void =>
 *   context.with(contextOf(transaction), () => {
 *     const span = trace.getTracer('shop').startSpan('notify');
 *     send();
 *     span.end();
 *   });
 * ```
 *
 * @category Telemetry
 */
export function contextOf(update: Traced | object, base: Context = context.active()): Context {
  const spanContext = spanContextOf(update);
  return spanContext === undefined ? base : trace.setSpanContext(base, spanContext);
}

/**
 * Returns a link to the span in which an update was submitted, for the `links` or `addLink` of another span.
 *
 * @param update - any update; checkpoints and unknown variants have no trace
 * @returns the link, or `undefined` if the update has no trace that is valid by W3C Trace Context
 * @example
 * ```ts
 * import { trace } from '@opentelemetry/api';
 * import type { Transaction } from 'canton-rx';
 * import { linkTo } from 'canton-rx/otel';
 *
 * export function settle(transaction: Transaction): void {
 *   const link = linkTo(transaction);
 *   const span = trace.getTracer('shop').startSpan('settle', { links: link === undefined ? [] : [link] });
 *   // ... your work
 *   span.end();
 * }
 * ```
 *
 * @category Telemetry
 */
export function linkTo(update: Traced | object): Link | undefined {
  const context = spanContextOf(update);
  return context === undefined ? undefined : { context };
}

/** Returns a link to the span that is active in a context, if there is one. */
export function linksToActive(outer: Context): Link[] {
  const active = trace.getSpanContext(outer);
  return active !== undefined && isSpanContextValid(active) ? [{ context: active }] : [];
}

/**
 * Returns the headers that propagate a context to the participant: those of the program's propagator, and always those
 * of W3C Trace Context, which participants read.
 */
export function headersFor(context: Context): Readonly<Record<string, string>> {
  const carrier: Record<string, string> = {};
  safely(() => {
    propagation.inject(context, carrier, {
      set: (headers, name, value) => {
        headers[name.toLowerCase()] = value;
      },
    });
  });
  const span = trace.getSpanContext(context);
  if (carrier['traceparent'] !== undefined || span === undefined || !trace.isSpanContextValid(span)) return carrier;
  const flags = span.traceFlags.toString(16).padStart(2, '0');
  const tracestate = span.traceState?.serialize() ?? '';
  return {
    ...carrier,
    traceparent: `00-${span.traceId}-${span.spanId}-${flags}`,
    ...(tracestate !== '' && { tracestate }),
  };
}

/** Returns the span in which an update was submitted, if the update has a valid one. */
function spanContextOf(update: object): SpanContext | undefined {
  const traceContext: unknown = 'traceContext' in update ? update.traceContext : undefined;
  const [, traceId = '', spanId = '', flags = '0'] = traceparentFormat.exec(textIn(traceContext, 'traceparent')) ?? [];
  const tracestate = textIn(traceContext, 'tracestate');
  const spanContext: SpanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & 1,
    isRemote: true,
    ...(tracestate !== '' && { traceState: createTraceState(tracestate) }),
  };
  return isSpanContextValid(spanContext) ? spanContext : undefined;
}

/** Version 00 has exactly 55 characters; later versions may append fields; version ff is invalid. */
const traceparentFormat = /^(?!ff)(?!00[^]{54})[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

/** Returns a text field of a trace context, whose type is not certain: an update may come from a store. */
function textIn(traceContext: unknown, key: 'traceparent' | 'tracestate'): string {
  const fields: Readonly<Record<string, unknown>> = {
    ...(typeof traceContext === 'object' ? traceContext : undefined),
  };
  const text = fields[key];
  return typeof text === 'string' ? text : '';
}

/**
 * Wraps a handler so that each call runs in a span. The span starts a new trace, with links to the trace in which each
 * update was submitted and to the span that is active when the handler is called. The results and errors of the handler
 * are unchanged, and so is its function `prepare`.
 *
 * A ledger with {@link openTelemetry} does this for the handlers of `processFeed`. Use this function for
 * `handleParked` and for updates from other sources.
 *
 * @param handler - a handler of single updates or of batches
 * @param telemetry - the provider of the spans; `meterProvider` has no effect
 * @returns the wrapped handler
 * @example
 * ```ts
 * import { handleParked, memoryStore } from 'canton-rx/process';
 * import { traceHandler } from 'canton-rx/otel';
 *
 * const handler = traceHandler((update) => {
 *   console.log(update.offset);
 * });
 * handleParked(memoryStore(), 'balances', handler).subscribe();
 * ```
 *
 * @category Telemetry
 */
export function traceHandler<Tx = unknown>(handler: Handler<Tx>, telemetry?: Telemetry): Handler<Tx>;

/**
 * Wraps a handler of batches so that each call runs in a span.
 *
 * @category Telemetry
 */
export function traceHandler<Tx = unknown>(handler: BatchHandler<Tx>, telemetry?: Telemetry): BatchHandler<Tx>;

export function traceHandler(
  handler: ((work: never, tx: never) => unknown) & Pick<Handler, 'prepare'>,
  telemetry: Telemetry = {},
): (work: never, tx: never) => unknown {
  const recorder = new Recorder(telemetry);
  const { prepare } = handler;
  const traced = handlerWithin(
    (call) => [traceHandlerCall(call(), context.active(), {}, recorder)],
    handler as AnyHandler,
  );
  return Object.assign(traced, prepare && { prepare });
}

/** Starts the span of a call: in a separate trace, linked to the traces of its updates and to that of the processor. */
export function traceHandlerCall(
  { items, isBatch }: HandlerCall,
  outer: Context,
  attributes: Attributes,
  recorder: Recorder,
): Interception {
  const [first] = items;
  const links = [...items.flatMap((update) => linkTo(update) ?? []), ...linksToActive(outer)];
  const own: Attributes = isBatch
    ? { 'canton.updates.count': items.length, 'canton.updates.last_offset': items.at(-1)?.offset }
    : { 'canton.update.variant': first?._tag, 'canton.update.id': first?.updateId };
  const options = {
    kind: SpanKind.CONSUMER,
    root: true,
    links,
    attributes: { ...attributes, 'canton.offset': first?.offset, ...own },
  };
  const span = recorder.startSpan(isBatch ? 'process updates' : 'process update', options, outer);
  return {
    ...between(trace.setSpan(outer, span), outer),
    end: ({ how, error }) => {
      endSpan(span, how === 'failed' ? { 'error.type': recorder.errorType(error) } : {});
    },
  };
}

/** Works in one context, and emits in another: what the subscriber does next is not part of the span. */
export const between = (inner: Context, outer: Context): Required<Pick<Interception, 'run' | 'emit'>> => ({
  run: (work) => {
    context.with(inner, work);
  },
  emit: (deliver) => {
    context.with(outer, deliver);
  },
});
