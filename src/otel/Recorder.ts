import {
  type Attributes,
  type Context,
  createNoopMeter,
  INVALID_SPAN_CONTEXT,
  type MeterProvider,
  metrics,
  type Span,
  type SpanOptions,
  trace,
  type TracerProvider,
} from '@opentelemetry/api';
import { asyncScheduler } from 'rxjs';
import { isLedgerError } from '../errors/LedgerError.js';
import { createInstruments, type Instruments } from './Instruments.js';

/**
 * The providers of spans and metrics.
 *
 * @category Telemetry
 */
export interface Telemetry {
  /** Provides the tracer. Default: the provider that the program registered with `@opentelemetry/api`. */
  readonly tracerProvider?: TracerProvider | undefined;
  /**
   * Provides the meter. Default: the provider that the program registered with `@opentelemetry/api`. Feeds that run
   * before the provider is registered are measured from that time on.
   */
  readonly meterProvider?: MeterProvider | undefined;
  /**
   * Whether each call of a handler of `processFeed` has a span. Has no effect on {@link traceHandler}.
   *
   * @defaultValue true
   */
  readonly handlerSpans?: boolean | undefined;
}

/** Starts the spans and records the measurements of one ledger. Its methods do not throw. */
export interface Recorder {
  /** Attributes that identify the ledger, on every span and measurement. */
  readonly ledger: Attributes;
  /** Starts a span. If the tracer fails, returns a span without effect. */
  readonly startSpan: (name: string, options: SpanOptions, context: Context) => Span;
  /** Calls `use` with the instruments if there is a meter. */
  readonly measure: (use: (instruments: Instruments, ledger: Attributes) => void) => void;
  /** Returns the value of `error.type` for an error, from a bounded set. */
  readonly errorType: (error: unknown) => string;
  /** Returns the value of `canton.synchronizer.id` for a synchronizer, from a bounded set. */
  readonly synchronizerLabel: (synchronizerId: string) => string;
}

/** Creates the recorder of a ledger with the identifying attributes `ledger`. */
export function createRecorder({ tracerProvider, meterProvider }: Telemetry, ledger: Attributes): Recorder {
  let instruments: Instruments | undefined;
  const boundedErrorType = limitDistinct(maxErrorTypes);
  return {
    ledger,
    startSpan: (name, options, context) =>
      safely(() => {
        const span = (tracerProvider ?? trace).getTracer(scope).startSpan(name, options, context);
        // fails here instead of later if the span is unusable
        span.spanContext();
        return span;
      }) ?? trace.wrapSpanContext(INVALID_SPAN_CONTEXT),
    measure: (use) =>
      safely(() => {
        instruments ??= currentInstruments(meterProvider);
        if (instruments !== undefined) use(instruments, ledger);
      }),
    errorType: (error) => boundedErrorType(errorTypeOf(error)),
    synchronizerLabel: limitDistinct(maxSynchronizers),
  };
}

/**
 * Returns the kind of an error, for `error.type`: the code of the ledger or of the system, an HTTP status, or the name
 * of the error. Never returns its message, which may quote payloads or credentials.
 */
export function errorTypeOf(error: unknown): string {
  if (!isLedgerError(error)) return error instanceof Error && isName(error.name) ? error.name : '_OTHER';
  const code = 'code' in error ? error.code : undefined;
  // a participant sends NA in place of a code that it withholds
  if (isCode(code) && code !== 'NA') return code;
  return error._tag === 'ApiError' ? String(error.status) : error._tag;
}

/** Whether a value is an identifier, not a human-readable text. */
const isName = (u: unknown): u is string => typeof u === 'string' && /^[A-Za-z_]\w{0,79}$/.test(u);

/** Whether a value has the form of a code of the ledger or of the system, not of text, a token or a key. */
const isCode = (u: unknown): u is string => typeof u === 'string' && /^[A-Z][A-Z0-9_]{1,79}$/.test(u);

/** Calls a telemetry function. Returns `undefined` if it throws, because telemetry must not break the program. */
export function safely<A>(measure: () => A): A | undefined {
  try {
    return measure();
  } catch {
    return undefined;
  }
}

/** Returns a function that calls `end` only the first time it is called. */
export const once = <Args extends readonly unknown[]>(end: (...args: Args) => void): ((...args: Args) => void) => {
  let hasEnded = false;
  return (...args) => {
    if (hasEnded) return;
    hasEnded = true;
    end(...args);
  };
};

/** Starts a stopwatch; returns a function that reads it, in seconds. */
export function stopwatch(): () => number {
  const startedAt = asyncScheduler.now();
  return () => Math.max(0, asyncScheduler.now() - startedAt) / 1_000;
}

/** The name of the tracer and of the meter. */
const scope = 'canton-rx';

/** The ledger has about two hundred codes, of which a program encounters a few. */
const maxErrorTypes = 100;

/** A participant is connected to a few synchronizers. */
const maxSynchronizers = 50;

/**
 * Returns the instruments of the meter; `undefined` for the no-op meter, because a program may register its SDK after
 * feeds have started.
 */
function currentInstruments(meterProvider: MeterProvider | undefined): Instruments | undefined {
  const meter = (meterProvider ?? metrics).getMeter(scope);
  return meter === createNoopMeter() ? undefined : createInstruments(meter);
}

/**
 * Returns the first `max` distinct texts unchanged and `_OTHER` for all others. This limits the number of time series.
 */
function limitDistinct(max: number): (text: string) => string {
  const known = new Set<string>();
  return (text) => {
    if (known.size < max) known.add(text);
    return known.has(text) ? text : '_OTHER';
  };
}
