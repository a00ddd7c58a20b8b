import type { WireTraceContext } from '../wire/WireTraceContext.js';

/** The trace of a request: the caller's, or a new one that only errors tell. */
export interface Trace {
  readonly id: string;
  readonly context: WireTraceContext | null;
}
