import {
  type Attributes,
  type Context,
  createNoopMeter,
  INVALID_SPAN_CONTEXT,
  type Meter,
  type MeterProvider,
  metrics as api,
  type Span,
  type SpanOptions,
  SpanStatusCode,
  trace,
  type TracerProvider,
} from '@opentelemetry/api';
import { boundedErrorType, limitDistinct, type MetricName, metrics, type MetricSink } from '../diagnostics/metrics.js';

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
export class Recorder implements MetricSink {
  /** Returns the value of `canton.synchronizer.id` for a synchronizer, from a bounded set. */
  readonly synchronizerLabel = limitDistinct(maxSynchronizers);
  /** Returns the value of `error.type` for an error, from a bounded set. */
  readonly errorType = boundedErrorType();
  readonly #instruments = new Map<MetricName, Instrument>();
  #meter: Meter | undefined;

  /**
   * @param identify - returns attributes that identify the ledger, on every span and measurement
   */
  constructor(
    private readonly telemetry: Telemetry,
    private readonly identify: () => Attributes = () => ({}),
  ) {}

  /** The attributes that identify the ledger now. */
  get ledger(): Attributes {
    return this.identify();
  }

  /** Starts a span. If the tracer fails, returns a span without effect. */
  startSpan(name: string, options: SpanOptions, context: Context): Span {
    const started = safely(() => {
      const attributes: Attributes = { ...this.ledger, ...options.attributes };
      const tracer = (this.telemetry.tracerProvider ?? trace).getTracer(scope);
      const span = tracer.startSpan(name, { ...options, attributes }, context);
      // fails here instead of later if the span is unusable
      span.spanContext();
      return span;
    });
    return started ?? trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
  }

  /** The meter; `undefined` for the no-op meter, because a program may register its SDK after feeds have started. */
  get meter(): Meter | undefined {
    return (this.#meter ??= safely(() => {
      const meter = (this.telemetry.meterProvider ?? api).getMeter(scope);
      return meter === createNoopMeter() ? undefined : meter;
    }));
  }

  /** Adds to a counter, or records a value, if there is a meter. */
  measure(name: MetricName, value: number, attributes: Attributes): void {
    safely(() => {
      const instrument = this.#instruments.get(name) ?? createInstrument(this.meter, name);
      if (instrument === undefined) return;
      this.#instruments.set(name, instrument);
      if ('add' in instrument) instrument.add(value, { ...this.ledger, ...attributes });
      else instrument.record(value, { ...this.ledger, ...attributes });
    });
  }
}

/** Ends a span with attributes. It has failed if they have the type of an error. */
export function endSpan(span: Span, attributes: Attributes): void {
  safely(() => {
    span.setAttributes(attributes);
    if ('error.type' in attributes) span.setStatus({ code: SpanStatusCode.ERROR });
  });
  safely(() => {
    span.end();
  });
}

/** Calls a telemetry function. Returns `undefined` if it throws, because telemetry must not break the program. */
export function safely<A>(measure: () => A): A | undefined {
  try {
    return measure();
  } catch {
    return undefined;
  }
}

/** A participant is connected to a few synchronizers. */
const maxSynchronizers = 50;

/** The name of the tracer and of the meter. */
const scope = 'canton-rx';

/** An instrument of a meter. The meter returns the same instrument for the same name to every ledger. */
type Instrument = NonNullable<ReturnType<typeof createInstrument>>;

function createInstrument(meter: Meter | undefined, name: MetricName) {
  const [kind, unit, description, explicitBucketBoundaries] = metrics[name];
  return meter?.[`create${kind}`](`canton_rx.${name}`, {
    unit,
    description,
    ...(explicitBucketBoundaries && { advice: { explicitBucketBoundaries } }),
  });
}
