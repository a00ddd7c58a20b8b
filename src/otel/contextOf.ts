import { context, trace, type Context } from '@opentelemetry/api';
import { spanContextOf } from './spanContextOf.js';
import type { Traced } from './Traced.js';

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
