import type { MeterProvider, TracerProvider } from '@opentelemetry/api';

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
