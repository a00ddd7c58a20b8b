/**
 * The sandbox accepts the submission, loses the response, and commits later. Before the commit, the same change gets
 * `SUBMISSION_ALREADY_IN_FLIGHT`; after it, `DUPLICATE_COMMAND`. The sandbox checks the submission again at the time of
 * the commit: by then, its contract may be archived or its time bounds may have passed.
 *
 * Applies to `…/executeAndWaitForTransaction` and to the submissions of commands, and has no effect on other requests.
 * A submission that is rejected immediately gets its usual response.
 *
 * @example
 * ```ts
 * import { startSandbox } from 'canton-rx/sandbox';
 *
 * const sandbox = await startSandbox();
 * const path = '/v2/interactive-submission/executeAndWaitForTransaction';
 * sandbox.fault({ kind: 'commitLate', ms: 300 }, { path });
 * // … the next execution gets a 503, and its transaction is in the feed 300 milliseconds later
 * await sandbox.close();
 * ```
 * @category Sandbox
 */
export interface FaultCommitLate {
  /** The kind of the fault. */
  readonly kind: 'commitLate';
  /** The time from the request to the commit, in milliseconds. `close()` cancels the commit; a restart does not. */
  readonly ms: number;
  /**
   * Where the sandbox holds the submission. Before its registration, the same change is not in flight: it can be sent
   * again, and commit. The held submission is then rejected as a duplicate.
   *
   * @defaultValue 'commit'
   */
  readonly before?: 'commit' | 'registration';
  /**
   * How the response is lost. The client immediately gets the plain-text 503 of a request timeout, or a TCP reset.
   *
   * @defaultValue 'timeout'
   */
  readonly how?: 'timeout' | 'reset';
}

/**
 * The sandbox prepares a transaction other than the requested one, as a malicious participant does to obtain a
 * signature. A client must not sign the result. Applies to `…/prepare`, and has no effect on other requests.
 *
 * @example
 * ```ts
 * import { startSandbox } from 'canton-rx/sandbox';
 *
 * const sandbox = await startSandbox();
 * const mallory = sandbox.externalParty('mallory');
 * const where = { path: '/v2/interactive-submission/prepare' };
 * sandbox.fault({ kind: 'lie', about: 'transaction' }, where); // an amount of 10 becomes 910
 * const steal = (request: unknown): unknown => ({ ...Object(request), actAs: [mallory.party] });
 * sandbox.fault({ kind: 'lie', about: 'both', instead: steal }, where);
 * await sandbox.close();
 * ```
 * @category Sandbox
 */
export interface FaultLie {
  /** The kind of the fault. */
  readonly kind: 'lie';
  /**
   * The false part of the response.
   *
   * - `'transaction'`: the transaction is false, and the hash is that of the requested transaction.
   * - `'hash'`: the hash is false, and the transaction is the requested one.
   * - `'both'`: the transaction is false, and the hash belongs to it. Only reading the transaction reveals the fault.
   *   Once signed, it can be executed.
   */
  readonly about: 'transaction' | 'hash' | 'both';
  /**
   * Creates the false prepare request from the client's request. By default, a 9 is prepended to the first number among
   * the arguments of a create; if there is no number, the command id is changed. If the ledger rejects the new request,
   * the client gets that error. If the function throws, the client gets a plain-text 400 without the reason.
   *
   * @param request - the parsed request, a copy that the function may change and return
   */
  readonly instead?: (request: unknown) => unknown;
}

/**
 * The sandbox registers the submission and then rejects it, with a completion. So an attempt fails by contention, or
 * because the participant has no traffic left, while the next attempt of the same change can commit.
 *
 * Applies to `…/executeAndWaitForTransaction` and to the submissions of commands, and has no effect on other requests.
 * Duplicates and submissions that are rejected earlier get their usual response.
 *
 * @example
 * ```ts
 * import { startSandbox } from 'canton-rx/sandbox';
 *
 * const sandbox = await startSandbox();
 * const submissions = { path: /^\/v2\/commands\/submit/ };
 * sandbox.fault({ kind: 'reject', code: 'LOCAL_VERDICT_LOCKED_CONTRACTS' }, { ...submissions, times: 3 });
 * sandbox.fault({ kind: 'reject', code: 'SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT' }, submissions);
 * await sandbox.close();
 * ```
 * @category Sandbox
 */
export interface FaultReject {
  /** The kind of the fault. */
  readonly kind: 'reject';
  /** The error code. It determines the HTTP status, as in {@link cantonError}. */
  readonly code: string;
  /**
   * The description of the error.
   *
   * @defaultValue a description without details
   */
  readonly cause?: string;
}
