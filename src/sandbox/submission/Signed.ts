import type { Trace } from '../http/Trace.js';
import type { Prepared } from '../prepared/Prepared.js';
import type { Execution } from './Execution.js';

/** A submission on its way to be committed. */
export interface Signed {
  readonly execution: Execution;
  readonly prepared: Prepared;
  /** What its party has to have signed. */
  readonly hash: Buffer;
  /** User, acting party and command id. */
  readonly changeId: string;
  readonly trace: Trace;
}
