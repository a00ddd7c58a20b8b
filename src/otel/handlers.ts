import { type Attributes, context, type Context, type Link, SpanKind, trace } from '@opentelemetry/api';
import { from, isObservable, tap } from 'rxjs';
import type { Report } from '../diagnostics/Diagnostic.js';
import { isAsyncIterable, isPromise } from '../process/callHandler.js';
import type { BatchHandler, Handler, Work } from '../process/ProcessOptions.js';
import { endSpan, Recorder, type Telemetry } from './Recorder.js';
import { inContext, linkTo } from './traceContext.js';

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
  const recorder = new Recorder(telemetry, {});
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
  const processor = trace.getSpanContext(outer);
  const links: Link[] = updates.flatMap((update) => linkTo(update) ?? []);
  if (processor !== undefined && trace.isSpanContextValid(processor)) links.push({ context: processor });
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
