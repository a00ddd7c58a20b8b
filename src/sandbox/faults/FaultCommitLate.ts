/**
 * The request is taken, its answer is lost, and the submission is committed a while later. Until then the ledger answers
 * `SUBMISSION_ALREADY_IN_FLIGHT` to the same change, and `DUPLICATE_COMMAND` after it. Whether the submission can be
 * committed is decided at the time of the commit: its contract may be archived by then, and its time over. For
 * `…/executeAndWaitForTransaction`; what is refused at once is answered as ever, and other requests are not harmed.
 *
 * @example
 * ```ts
 * import { startSandbox } from 'canton-rx/sandbox';
 *
 * const sandbox = await startSandbox();
 * const path = '/v2/interactive-submission/executeAndWaitForTransaction';
 * sandbox.fault({ kind: 'commitLate', ms: 300 }, { path });
 * // … the next execution is answered by a 503, and is in the feed 300 milliseconds after it was sent
 * await sandbox.close();
 * ```
 */
export interface FaultCommitLate {
  /** Tells the faults apart. */
  readonly kind: 'commitLate';
  /** How many milliseconds after the request the commit comes. A restart does not stop it, a close does. */
  readonly ms: number;
  /**
   * What the client gets, at once: the plain-text 503 of the request timeout, or a reset connection (TCP RST). Default
   * `'timeout'`.
   */
  readonly how?: 'timeout' | 'reset';
}
