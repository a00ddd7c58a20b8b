import type { Ledger } from '../ledger/Ledger.js';
import type { Followers } from './Followers.js';
import type { Operation } from './Operation.js';
import type { Recorder } from './Recorder.js';

/** A ledger that is traced. */
export interface Tracing {
  /** The ledger without telemetry. */
  readonly plain: Ledger;
  /** The same ledger, as one operation uses it. */
  readonly ledgerFor: (operation: Operation) => Ledger;
  readonly recorder: Recorder;
  readonly followers: Followers;
  /** Whether each call of a handler has a span. */
  readonly handlerSpans: boolean;
}
