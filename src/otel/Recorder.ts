import {
  type Attributes,
  type Context,
  createNoopMeter,
  INVALID_SPAN_CONTEXT,
  type Meter,
  type MeterProvider,
  metrics,
  type Span,
  type SpanOptions,
  trace,
  type TracerProvider,
} from '@opentelemetry/api';
import { isLedgerError } from '../errors/LedgerError.js';
import { type Instruments, instrumentsOf } from './Instruments.js';

/** How spans and measurements of one ledger are made; nothing of it throws. */
export interface Recorder {
  /** What tells the ledger from others. */
  readonly ledger: Attributes;
  /** Starts a span; one that does nothing where that fails. */
  readonly startSpan: (name: string, options: SpanOptions, context: Context) => Span;
  /** Measures. */
  readonly measure: (use: (instruments: Instruments, ledger: Attributes) => void) => void;
  /** Of which kind an error is; one of a bounded number. */
  readonly errorType: (error: unknown) => string;
  /** A synchronizer's id; one of a bounded number. */
  readonly synchronizer: (id: string) => string;
}

/** Where spans and metrics go. */
export interface Telemetry {
  /** Gives the tracer. Default: the one that the program has registered with `@opentelemetry/api`. */
  readonly tracerProvider?: TracerProvider | undefined;
  /**
   * Gives the meter. Default: the one that the program has registered with `@opentelemetry/api`; one that is registered
   * while feeds go on gets what they do from then on.
   */
  readonly meterProvider?: MeterProvider | undefined;
  /**
   * Whether `process` gives each call of its handler a span. Has no effect on {@link traceHandler}.
   *
   * @defaultValue true
   */
  readonly handlerSpans?: boolean | undefined;
}

/** Lets so many different texts through, and calls all others `_OTHER`: a service that runs wild must not fill a meter. */
export function atMostDistinct(most: number): (text: string) => string {
  const known = new Set<string>();
  return (text) => {
    if (known.size < most) known.add(text);
    return known.has(text) ? text : '_OTHER';
  };
}

/**
 * What kind of error it is, for `error.type`: the ledger's code or the system's, an HTTP status, or the name of the error.
 * Never its message, which may quote what nobody is to read.
 */
export function errorTypeOf(error: unknown): string {
  if (!isLedgerError(error)) return error instanceof Error && isName(error.name) ? error.name : '_OTHER';
  const code = 'code' in error ? error.code : undefined;
  // NA is of whom keeps it to himself
  if (isCode(code) && code !== 'NA') return code;
  return error._tag === 'ApiError' ? String(error.status) : error._tag;
}

/** A name, and nothing that somebody wrote for people to read. */
const isName = (u: unknown): u is string => typeof u === 'string' && /^[A-Za-z_]\w{0,79}$/.test(u);

/** As the ledger and the system write theirs, and no text, token or key. */
const isCode = (u: unknown): u is string => typeof u === 'string' && /^[A-Z][A-Z0-9_]{1,79}$/.test(u);

/** Does something for telemetry, which must not break what it is about: `undefined` where that fails. */
export function safely<A>(measure: () => A): A | undefined {
  try {
    return measure();
  } catch {
    return undefined;
  }
}

/** There are about two hundred codes of the ledger, of which a program meets a few. */
const mostErrorTypes = 100;

/** By which a backend tells what is of this library. */
const scope = 'canton-rx';

/** A participant is connected to a few. */
const mostSynchronizers = 50;

/** The recorder of a ledger at an address. */
export function recorderOf({ tracerProvider, meterProvider }: Telemetry, ledger: Attributes): Recorder {
  let instruments: Instruments | undefined;
  const bounded = atMostDistinct(mostErrorTypes);
  return {
    ledger,
    startSpan: (name, options, context) =>
      safely(() => {
        const span = (tracerProvider ?? trace).getTracer(scope).startSpan(name, options, context);
        // what has no context would fail wherever it is asked for it
        span.spanContext();
        return span;
      }) ?? trace.wrapSpanContext(INVALID_SPAN_CONTEXT),
    measure: (use) =>
      safely(() => {
        instruments ??= measuring((meterProvider ?? metrics).getMeter(scope));
        if (instruments !== undefined) use(instruments, ledger);
      }),
    synchronizer: atMostDistinct(mostSynchronizers),
    errorType: (error) => bounded(errorTypeOf(error)),
  };
}

/** Of the meter that does nothing there are no instruments: a program may register its SDK after its feeds have begun. */
const measuring = (meter: Meter): Instruments | undefined =>
  meter === createNoopMeter() ? undefined : instrumentsOf(meter);
