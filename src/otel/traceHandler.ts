import { context } from '@opentelemetry/api';
import type { BatchHandler, Handler } from '../process/Handler.js';
import { handlingSpan } from './handlingSpan.js';
import { recorderOf } from './recorderOf.js';
import type { Telemetry } from './Telemetry.js';
import { watchedWork, type AnyHandler } from './watchedWork.js';

/**
 * Has a handler work in a span of its own: a new trace for each update or batch, with a link to the trace in which each
 * update was submitted, and to the span that is active when the handler is called. What the handler does is in that span;
 * what it throws or fails with goes on as it is.
 *
 * A ledger of {@link createTracedLedger} does so by itself; this is for `handleParked`, and for updates that come otherwise.
 *
 * @param telemetry - where the spans go; `meterProvider` has no effect
 * @example
 * ```ts
 * import { handleParked, memoryStore } from 'canton-rx';
 * import { traceHandler } from 'canton-rx/otel';
 *
 * const handler = traceHandler((update) => {
 *   console.log(update.offset);
 * });
 * handleParked(memoryStore(), 'balances', handler).subscribe();
 * ```
 */
export function traceHandler<Tx = unknown>(handler: Handler<Tx>, telemetry?: Telemetry): Handler<Tx>;
/** Has a handler of batches work in a span of its own. */
export function traceHandler<Tx = unknown>(handler: BatchHandler<Tx>, telemetry?: Telemetry): BatchHandler<Tx>;
export function traceHandler(
  handler: (work: never, tx: never) => unknown,
  telemetry: Telemetry = {},
): (work: never, tx: never) => unknown {
  const recorder = recorderOf(telemetry, {});
  return watchedWork(handler as AnyHandler, (work) => handlingSpan(work, context.active(), {}, recorder));
}
