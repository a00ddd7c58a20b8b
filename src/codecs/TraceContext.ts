import type * as t from 'io-ts';
import { message } from './internal/message.js';
import { optional } from './internal/optional.js';
import { text } from './internal/text.js';

/** The W3C trace in which an update was submitted. */
export interface TraceContext {
  /** The `traceparent` header. */
  readonly traceparent?: string;
  /** The `tracestate` header. */
  readonly tracestate?: string;
}

/** Codec of `TraceContext`. */
export const TraceContext: t.Type<TraceContext, unknown> = message<TraceContext>('TraceContext', {
  traceparent: optional(text),
  tracestate: optional(text),
});
