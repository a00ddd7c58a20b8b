import { createNoopMeter, INVALID_SPAN_CONTEXT, metrics, trace, type Attributes, type Meter } from '@opentelemetry/api';
import { atMostDistinct } from './atMostDistinct.js';
import { errorTypeOf } from './errorTypeOf.js';
import { instrumentsOf, type Instruments } from './Instruments.js';
import type { Recorder } from './Recorder.js';
import { safely } from './safely.js';
import type { Telemetry } from './Telemetry.js';

/** By which a backend tells what is of this library. */
const scope = 'canton-rx';

/** There are about two hundred codes of the ledger, of which a program meets a few. */
const mostErrorTypes = 100;

/** A participant is connected to a few. */
const mostSynchronizers = 50;

/** Of the meter that does nothing there are no instruments: a program may register its SDK after its feeds have begun. */
const measuring = (meter: Meter): Instruments | undefined =>
  meter === createNoopMeter() ? undefined : instrumentsOf(meter);

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
