import { type Attributes, context, type Context, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { from, isObservable, type Observable, tap } from 'rxjs';
import type { BatchHandler, Handler, Work } from '../process/ProcessOptions.js';
import { errorTypeOf, type Recorder, recorderOf, safely, type Telemetry } from './Recorder.js';
import { inContext, linkTo } from './traceContext.js';

/** A handler, whatever it takes. */
export type AnyHandler = (work: Work | readonly Work[], tx: unknown) => unknown;

/** One call of a handler. */
export interface Watched {
  /** In which it works. */
  readonly inner: Context;
  /** In which what comes after it goes on. */
  readonly outer: Context;
  /** Called once, when it is over, with what it has failed with. */
  readonly end: (failure?: { readonly error: unknown }) => void;
}

/** Gives a call of a handler a span. */
export function handlingSpan(
  work: Work | readonly Work[],
  home: Context,
  attributes: Attributes,
  recorder: Pick<Recorder, 'startSpan'>,
): Watched {
  const span = startHandling(work, home, attributes, recorder);
  return {
    inner: trace.setSpan(home, span),
    outer: home,
    end: (failure) => {
      safely(() => {
        if (failure === undefined) return;
        span.setAttribute('error.type', errorTypeOf(failure.error));
        span.setStatus({ code: SpanStatusCode.ERROR });
      });
      safely(() => {
        span.end();
      });
    },
  };
}

/** The span of one call of a handler: a trace of its own, linked to those of its updates and to the processor's. */
function startHandling(
  work: Work | readonly Work[],
  home: Context,
  attributes: Attributes,
  recorder: Pick<Recorder, 'startSpan'>,
): Span {
  const updates = [work].flat();
  const [first] = updates;
  const processor = trace.getSpanContext(home);
  const isLinked = processor !== undefined && trace.isSpanContextValid(processor);
  const isBatch = Array.isArray(work);
  return recorder.startSpan(
    isBatch ? 'process updates' : 'process update',
    {
      kind: SpanKind.CONSUMER,
      root: true,
      links: [...updates.flatMap((update) => linkTo(update) ?? []), ...(isLinked ? [{ context: processor }] : [])],
      attributes: {
        ...attributes,
        ...(first !== undefined && { 'canton.offset': first.offset }),
        ...(isBatch && {
          'canton.updates.count': updates.length,
          'canton.updates.last_offset': updates.at(-1)?.offset,
        }),
        ...(!isBatch && first !== undefined && oneOf(first)),
      },
    },
    home,
  );
}

const oneOf = (update: Work): Attributes => ({
  'canton.update.variant': update._tag,
  ...('updateId' in update && { 'canton.update.id': update.updateId }),
});

/** Tells when each call of a handler begins and is over. What comes of it is what the handler returns. */
export const instrumentHandler =
  (handler: AnyHandler, begin: (work: Work | readonly Work[]) => Watched): AnyHandler =>
  (work, tx) => {
    const watched = begin(work);
    const { inner, end } = watched;
    try {
      const result = context.with(inner, () => handler(work, tx));
      if (isObservable(result)) return untilOver(result, watched);
      if (isIterated(result)) return untilOver(from(result), watched);
      if (isPromise(result)) return settled(result, watched);
      end();
      return result;
    } catch (error) {
      end({ error });
      throw error;
    }
  };

const untilOver = (result$: Observable<unknown>, { inner, outer, end }: Watched): Observable<unknown> =>
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

const isIterated = (u: unknown): u is AsyncIterable<unknown> =>
  typeof u === 'object' && u !== null && Symbol.asyncIterator in u;

const isPromise = (u: unknown): u is PromiseLike<unknown> =>
  typeof u === 'object' && u !== null && 'then' in u && typeof u.then === 'function';

async function settled(result: PromiseLike<unknown>, { end }: Watched): Promise<unknown> {
  try {
    const value = await result;
    end();
    return value;
  } catch (error) {
    end({ error });
    throw error;
  }
}

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
  return instrumentHandler(handler as AnyHandler, (work) => handlingSpan(work, context.active(), {}, recorder));
}
