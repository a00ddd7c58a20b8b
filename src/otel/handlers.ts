import { type Attributes, context, type Context, type Link, SpanKind, trace } from '@opentelemetry/api';
import { from, isObservable, type Observable, tap } from 'rxjs';
import type { Report } from '../diagnostics/Diagnostic.js';
import type { BatchHandler, Handler, Work } from '../process/ProcessOptions.js';
import { createRecorder, endSpan, type Recorder, type Telemetry } from './Recorder.js';
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
  const recorder = createRecorder(telemetry, {});
  return instrumentHandler(handler as AnyHandler, (work) => startHandlerCall(work, context.active(), {}, recorder));
}

/** Wraps a handler so that `start` is called before each call, and the `end` that it returns after each call. */
export const instrumentHandler =
  (handler: AnyHandler, start: (work: Work | readonly Work[]) => HandlerCall): AnyHandler =>
  (work, tx, report) => {
    const call = start(work);
    const { inner, end } = call;
    try {
      const result = context.with(inner, () => handler(work, tx, report));
      if (isObservable(result) || isAsyncIterable(result)) return instrumentObservable(from(result), call);
      if (isPromise(result)) return instrumentPromise(result, call);
      end();
      return result;
    } catch (error) {
      end({ error });
      throw error;
    }
  };

const instrumentObservable = (result$: Observable<unknown>, { inner, outer, end }: HandlerCall): Observable<unknown> =>
  result$.pipe(
    tap({
      complete: () => {
        end();
      },
      error: (error: unknown) => {
        end({ error });
      },
      unsubscribe: () => {
        end();
      },
    }),
    inContext(inner, outer),
  );

const isAsyncIterable = (u: unknown): u is AsyncIterable<unknown> =>
  typeof u === 'object' && u !== null && Symbol.asyncIterator in u;

const isPromise = (u: unknown): u is PromiseLike<unknown> =>
  typeof u === 'object' && u !== null && 'then' in u && typeof u.then === 'function';

async function instrumentPromise(result: PromiseLike<unknown>, { end }: HandlerCall): Promise<unknown> {
  try {
    const value = await result;
    end();
    return value;
  } catch (error) {
    end({ error });
    throw error;
  }
}

/** Starts the span of a call: in a separate trace, linked to the traces of its updates and to that of the processor. */
export function startHandlerCall(
  work: Work | readonly Work[],
  outer: Context,
  attributes: Attributes,
  { startSpan, errorType }: Pick<Recorder, 'startSpan' | 'errorType'>,
): HandlerCall {
  const isBatch = Array.isArray(work);
  const updates = [work].flat();
  const processor = trace.getSpanContext(outer);
  const links: Link[] = updates.flatMap((update) => linkTo(update) ?? []);
  if (processor !== undefined && trace.isSpanContextValid(processor)) links.push({ context: processor });
  const options = {
    kind: SpanKind.CONSUMER,
    root: true,
    links,
    attributes: { ...attributes, ...(isBatch ? batchAttributes(updates) : updateAttributes(work as Work)) },
  };
  const span = startSpan(isBatch ? 'process updates' : 'process update', options, outer);
  return {
    inner: trace.setSpan(outer, span),
    outer,
    end: (failure) => {
      endSpan(span, failure === undefined ? {} : { 'error.type': errorType(failure.error) });
    },
  };
}

const batchAttributes = (updates: readonly Work[]): Attributes => ({
  'canton.offset': updates[0]?.offset,
  'canton.updates.count': updates.length,
  'canton.updates.last_offset': updates.at(-1)?.offset,
});

const updateAttributes = (update: Work): Attributes => ({
  'canton.offset': update.offset,
  'canton.update.variant': update._tag,
  ...('updateId' in update && { 'canton.update.id': update.updateId }),
});
