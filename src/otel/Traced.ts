import type { TraceContext } from '../codecs/TraceContext.js';

/** What may tell the trace in which it was submitted: any update. */
export interface Traced {
  /** The trace; absent where the participant tells none. */
  readonly traceContext?: TraceContext;
}
