import { propagation, trace, type Context } from '@opentelemetry/api';
import { safely } from './safely.js';

/**
 * The headers that carry a context to the participant: those of the program's propagator; and W3C's in any case, since
 * those are the ones that a participant understands.
 */
export function headersFor(context: Context): Readonly<Record<string, string>> {
  const carrier: Record<string, string> = {};
  safely(() => {
    propagation.inject(context, carrier, {
      set: (headers, name, value) => {
        headers[name.toLowerCase()] = value;
      },
    });
  });
  const span = trace.getSpanContext(context);
  if (carrier['traceparent'] !== undefined || span === undefined || !trace.isSpanContextValid(span)) return carrier;
  const flags = span.traceFlags.toString(16).padStart(2, '0');
  const tracestate = span.traceState?.serialize() ?? '';
  return {
    ...carrier,
    traceparent: `00-${span.traceId}-${span.spanId}-${flags}`,
    ...(tracestate !== '' && { tracestate }),
  };
}
