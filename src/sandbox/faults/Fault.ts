import type { FaultHang, FaultReset, FaultStall, FaultTruncate } from './connectionFaults.js';
import type { FaultBody, FaultDelay, FaultRewrite, FaultStatus } from './responseFaults.js';
import type { FaultSocket } from './socketFaults.js';
import type { FaultCommitLate, FaultLie, FaultReject } from './submissionFaults.js';

/**
 * A failure of one request. See {@link Sandbox.fault}.
 *
 * @category Sandbox
 */
export type Fault =
  | FaultStatus
  | FaultReset
  | FaultTruncate
  | FaultStall
  | FaultHang
  | FaultDelay
  | FaultBody
  | FaultRewrite
  | FaultLie
  | FaultCommitLate
  | FaultReject
  | FaultSocket;

/**
 * The requests that a {@link Fault} applies to. Faults of the kinds `status`, `reset`, `hang` and `rewrite` apply to
 * requests and to upgrades to a WebSocket. Faults of the kind `socket` apply only to upgrades, and all others only to
 * requests.
 *
 * @category Sandbox
 */
export interface FaultScope {
  /**
   * The complete path, or a pattern for it.
   *
   * @defaultValue any path
   */
  readonly path?: string | RegExp;
  /**
   * The number of matching requests that pass before the fault is due.
   *
   * Each fault has its own count. Since it was queued, it counts every request on arrival that matches its `path` and
   * its kind, including requests that another fault applies to. If several faults are due, the one that was queued
   * first applies, and the others apply to the next requests. For example, with two faults of `after: 1`, the first
   * request passes, the second gets the first fault, and the third gets the second fault.
   *
   * @defaultValue 0
   */
  readonly after?: number;
  /**
   * The number of requests that the fault applies to.
   *
   * @defaultValue 1
   */
  readonly times?: number;
}
