import { createTraceState, isSpanContextValid, type SpanContext } from '@opentelemetry/api';

/** W3C's form, which has 55 characters; later versions may add to it, and ff is none. */
const form = /^(?!ff)(?!00[^]{54})[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

/** The span in which an update was submitted, if it tells one. */
export function spanContextOf(update: object): SpanContext | undefined {
  const told: unknown = 'traceContext' in update ? update.traceContext : undefined;
  const [, traceId = '', spanId = '', flags = '0'] = form.exec(textIn(told, 'traceparent')) ?? [];
  const tracestate = textIn(told, 'tracestate');
  const spanContext: SpanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & 1,
    isRemote: true,
    ...(tracestate !== '' && { traceState: createTraceState(tracestate) }),
  };
  return isSpanContextValid(spanContext) ? spanContext : undefined;
}

/** Not by its type alone: what a store has kept may be anything. */
function textIn(told: unknown, key: 'traceparent' | 'tracestate'): string {
  const fields: Readonly<Record<string, unknown>> = { ...(typeof told === 'object' ? told : undefined) };
  const text = fields[key];
  return typeof text === 'string' ? text : '';
}
