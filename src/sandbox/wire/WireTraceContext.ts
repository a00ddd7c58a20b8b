/** A W3C trace context as updates carry it. */
export interface WireTraceContext {
  /** The `traceparent` header. */
  readonly traceparent: string | null;
  /** The `tracestate` header. */
  readonly tracestate: string | null;
}
