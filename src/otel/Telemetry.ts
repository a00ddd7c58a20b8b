import type { MeterProvider, TracerProvider } from '@opentelemetry/api';

/** Where spans and metrics go. */
export interface Telemetry {
  /** Gives the tracer. Default: the one that the program has registered with `@opentelemetry/api`. */
  readonly tracerProvider?: TracerProvider | undefined;
  /**
   * Gives the meter, when the ledger is used for the first time. Default: the one that the program has registered with
   * `@opentelemetry/api` by then; one that is registered later gets nothing.
   */
  readonly meterProvider?: MeterProvider | undefined;
  /**
   * Whether `process` gives each call of its handler a span. Has no effect on {@link traceHandler}.
   *
   * @defaultValue true
   */
  readonly handlerSpans?: boolean | undefined;
}
