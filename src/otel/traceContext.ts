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
import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import type { TraceContext } from '../codecs/OffsetCheckpoint.js';
import { safely } from './Recorder.js';

/** What may tell the trace in which it was submitted: any update. */
export interface Traced {
  /** The trace; absent where the participant tells none. */
  readonly traceContext?: TraceContext;
}

/**
 * The context in which an update was submitted, for a span that is to go on in its trace, as its child. Where much comes of
 * one trace, or long after it, rather {@link linkTo} it.
 *
 * @param update - any update; checkpoints and unknown variants have no trace
 * @param base - what else is in the context; the active one by default
 * @returns the context; `base` as it is where the update tells no trace
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
 */
export function contextOf(update: Traced | object, base: Context = context.active()): Context {
  const spanContext = spanContextOf(update);
  return spanContext === undefined ? base : trace.setSpanContext(base, spanContext);
}

/**
 * A link to the span in which an update was submitted, for a span of your own: `links`, or `span.addLink`.
 *
 * @param update - any update; checkpoints and unknown variants have no trace
 * @returns the link; `undefined` where the update tells no trace, or none that W3C knows
 * @example
 * ```ts
 * import { trace } from '@opentelemetry/api';
 * import type { Transaction } from 'canton-rx';
 * import { linkTo } from 'canton-rx/otel';
 *
 * export function settle(transaction: Transaction): void {
 *   const link = linkTo(transaction);
 *   const span = trace.getTracer('shop').startSpan('settle', { links: link === undefined ? [] : [link] });
 *   // … your work
 *   span.end();
 * }
 * ```
 */
export function linkTo(update: Traced | object): Link | undefined {
  const context = spanContextOf(update);
  return context === undefined ? undefined : { context };
}

/**
 * The headers that carry a context to the participant: those of the program's propagator; and W3C's in any case, since
 * those are the ones that a participant understands.
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
 * Subscribes to a source in one context, and hands on what comes of it in another: what continues from there, perhaps
 * much later, is not to find itself in the span of a request that is over.
 */
export const inContext =
  <A>(inner: Context, outer: Context): MonoTypeOperatorFunction<A> =>
  (source) =>
    new Observable((subscriber) =>
      context.with(inner, () =>
        source.subscribe({
          next: (value) => {
            context.with(outer, () => {
              subscriber.next(value);
            });
          },
          error: (error: unknown) => {
            context.with(outer, () => {
              subscriber.error(error);
            });
          },
          complete: () => {
            context.with(outer, () => {
              subscriber.complete();
            });
          },
        }),
      ),
    );

/** W3C's form, which has 55 characters; later versions may add to it, and ff is none. */
const form = /^(?!ff)(?!00[^]{54})[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

/** The span in which an update was submitted, if it tells one. */
function spanContextOf(update: object): SpanContext | undefined {
  const told: unknown = 'traceContext' in update ? update.traceContext : undefined;
  const [, traceId = '', spanId = '', flags = '0'] = form.exec(textIn(told, 'traceparent')) ?? [];
  const tracestate = textIn(told, 'tracestate');
  const spanContext: SpanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & 1,
    isRemote: true,
    ...(tracestate !== '' && { traceState: createTraceState(tracestate) }),
  };
  return isSpanContextValid(spanContext) ? spanContext : undefined;
}

/** Not by its type alone: what a store has kept may be anything. */
function textIn(told: unknown, key: 'traceparent' | 'tracestate'): string {
  const fields: Readonly<Record<string, unknown>> = { ...(typeof told === 'object' ? told : undefined) };
  const text = fields[key];
  return typeof text === 'string' ? text : '';
}
