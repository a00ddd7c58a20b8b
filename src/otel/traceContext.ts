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
import { type MonoTypeOperatorFunction, Observable, tap, from, isObservable } from 'rxjs';
import type { TraceContext } from '../codecs/OffsetCheckpoint.js';
import { safely, endSpan, Recorder, type Telemetry } from './Recorder.js';
import type { Report } from '../diagnostics/Diagnostic.js';
import { isAsyncIterable, isPromise } from '../process/Stop.js';
import type { BatchHandler, Handler, Work } from '../process/ProcessOptions.js';

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

/**
 * Subscribes to the source in one context and emits in another. What the subscriber does next, possibly much later, is
 * then not part of the span of a completed request.
 */
export const inContext =
  <A>(inner: Context, outer: Context): MonoTypeOperatorFunction<A> =>
  (source) =>
    new Observable((subscriber) =>
      context.with(inner, () =>
        source.subscribe({
          next: context.bind(outer, subscriber.next.bind(subscriber)),
          error: context.bind(outer, subscriber.error.bind(subscriber)),
          complete: context.bind(outer, subscriber.complete.bind(subscriber)),
        }),
      ),
    );

/** How a subscription had an outcome: with its first value, with an error, or without either. */
export interface Outcome<A> {
  readonly how: 'succeeded' | 'failed' | 'completed' | 'unsubscribed';
  readonly value?: A;
  readonly error?: unknown;
}

/** Calls `end` once, because a subscriber may unsubscribe when it receives the first value. */
export function onOutcome<A>(end: (outcome: Outcome<A>) => void): MonoTypeOperatorFunction<A> {
  let hasEnded = false;
  const once = (outcome: Outcome<A>): void => {
    if (!hasEnded) end(outcome);
    hasEnded = true;
  };
  return tap({
    next: (value) => {
      once({ how: 'succeeded', value });
    },
    error: (error: unknown) => {
      once({ how: 'failed', error });
    },
    complete: () => {
      once({ how: 'completed' });
    },
    unsubscribe: () => {
      once({ how: 'unsubscribed' });
    },
  });
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

/** A handler of updates or of batches. */
export type AnyHandler = (work: Work | readonly Work[], tx: unknown, report?: Report) => unknown;

/** One call of a handler. */
export interface HandlerCall {
  /** The context in which the handler runs. */
  readonly inner: Context;
  /** The context in which its result is emitted. */
  readonly outer: Context;
  /** Called once when the call has ended, with its error if it failed. */
  readonly end: (failure?: { readonly error: unknown }) => void;
}

/**
 * Wraps a handler so that each call runs in a span. The span starts a new trace, with links to the trace in which each
 * update was submitted and to the span that is active when the handler is called. The results and errors of the handler
 * are unchanged.
 *
 * The ledger of {@link createTracedLedger} does this for the handlers of `processFeed`. Use this function for
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
  handler: (work: never, tx: never) => unknown,
  telemetry: Telemetry = {},
): (work: never, tx: never) => unknown {
  const recorder = new Recorder(telemetry);
  return instrumentHandler(handler as AnyHandler, (work) => startHandlerCall(work, context.active(), {}, recorder));
}

/** Wraps a handler so that `start` is called before each call, and the `end` that it returns after each call. */
export const instrumentHandler =
  (handler: AnyHandler, start: (work: Work | readonly Work[]) => HandlerCall): AnyHandler =>
  (work, tx, report) => {
    const { inner, outer, end } = start(work);
    const complete = (): void => {
      end();
    };
    const fail = (error: unknown): void => {
      end({ error });
    };
    try {
      const result = context.with(inner, () => handler(work, tx, report));
      if (isObservable(result) || isAsyncIterable(result))
        return from(result).pipe(tap({ complete, error: fail, unsubscribe: complete }), inContext(inner, outer));
      // the caller gets the same error
      if (isPromise(result)) void result.then(complete, fail);
      else complete();
      return result;
    } catch (error) {
      fail(error);
      throw error;
    }
  };

/** Starts the span of a call: in a separate trace, linked to the traces of its updates and to that of the processor. */
export function startHandlerCall(
  work: Work | readonly Work[],
  outer: Context,
  attributes: Attributes,
  recorder: Recorder,
): HandlerCall {
  const isBatch = Array.isArray(work);
  const updates = [work].flat();
  const [first] = updates;
  const links = [...updates.flatMap((update) => linkTo(update) ?? []), ...linksToActive(outer)];
  const own: Attributes = isBatch
    ? { 'canton.updates.count': updates.length, 'canton.updates.last_offset': updates.at(-1)?.offset }
    : {
        'canton.update.variant': first?._tag,
        'canton.update.id': first && 'updateId' in first ? first.updateId : undefined,
      };
  const options = {
    kind: SpanKind.CONSUMER,
    root: true,
    links,
    attributes: { ...attributes, 'canton.offset': first?.offset, ...own },
  };
  const span = recorder.startSpan(isBatch ? 'process updates' : 'process update', options, outer);
  return {
    inner: trace.setSpan(outer, span),
    outer,
    end: (failure) => {
      endSpan(span, failure === undefined ? {} : { 'error.type': recorder.errorType(failure.error) });
    },
  };
}
