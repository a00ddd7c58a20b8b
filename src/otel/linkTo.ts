import type { Link } from '@opentelemetry/api';
import { spanContextOf } from './spanContextOf.js';
import type { Traced } from './Traced.js';

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
