import {
  context,
  type Context,
  createTraceState,
  isSpanContextValid,
  type Link,
  propagation,
  type SpanContext,
  trace,
} from '@opentelemetry/api';
import { type MonoTypeOperatorFunction, Observable, tap } from 'rxjs';
import type { TraceContext } from '../codecs/OffsetCheckpoint.js';
import { safely } from './Recorder.js';

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
