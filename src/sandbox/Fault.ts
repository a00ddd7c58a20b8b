import type { FaultSocket, FaultStatus } from './FaultSocket.js';

/**
 * A failure of one request, see {@link Sandbox.fault}.
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
  | FaultSocket;

/**
 * The request is not processed. The response is 200, `application/json` and exactly this body, valid or not.
 *
 * @category Sandbox
 */
export interface FaultBody {
  /** The kind of the fault. */
  readonly kind: 'body';
  /** The body of the response. */
  readonly body: string;
}

/**
 * The submission is accepted, its response is lost, and the commit follows later. Before the commit the ledger answers the
 * same change with `SUBMISSION_ALREADY_IN_FLIGHT`, after it with `DUPLICATE_COMMAND`. The submission is checked again at
 * the time of the commit: its contract may be archived by then, or its time bounds may have passed. Applies to
 * `…/executeAndWaitForTransaction` and leaves other requests unharmed. A submission that is rejected at once gets its usual
 * response.
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
  /** The milliseconds from the request to the commit. A restart does not stop the commit, `close()` does. */
  readonly ms: number;
  /**
   * How the response is lost, at once: the client gets the plain-text 503 of the request timeout, or a TCP reset.
   *
   * @defaultValue 'timeout'
   */
  readonly how?: 'timeout' | 'reset';
}

/**
 * The request is processed at once, and its response is delayed. If the delay exceeds `requestTimeoutMs`, the client gets
 * the 503 of the request timeout although the request was processed. If it exceeds the `stream_idle_timeout_ms` of a request
 * for the active contracts, their list is empty.
 *
 * @category Sandbox
 */
export interface FaultDelay {
  /** The kind of the fault. */
  readonly kind: 'delay';
  /** The delay in milliseconds. */
  readonly ms: number;
}

/**
 * The request, or the upgrade to a WebSocket, is accepted and never gets a response. The connection stays open until the
 * client closes it, or until `restart()` or `close()`.
 *
 * @category Sandbox
 */
export interface FaultHang {
  /** The kind of the fault. */
  readonly kind: 'hang';
}

/**
 * The participant prepares another transaction than the requested one, as a malicious participant does to obtain a
 * signature. Applies to `…/prepare` and leaves other requests unharmed. A client must not sign the result.
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
   * The part of the response that is false. `'transaction'`: the transaction is false, the hash is that of the requested
   * one. `'hash'`: the other way round. `'both'`: the transaction is false and the hash belongs to it, so that only reading
   * the transaction reveals the fault; once signed, it can be executed.
   */
  readonly about: 'transaction' | 'hash' | 'both';
  /**
   * Makes the prepare request whose transaction is returned from the request of the client. By default a 9 is put before
   * the first number among the arguments of a create; without such a number, the command id is changed. If the ledger
   * rejects the new request, the client gets that error. If the function throws, the client gets a plain-text 400 without
   * the reason.
   *
   * @param request - the parsed request, a copy that the function may change and return
   */
  readonly instead?: (request: unknown) => unknown;
}

/**
 * The connection is reset (TCP RST) instead of a response, or instead of an upgrade to a WebSocket.
 *
 * @category Sandbox
 */
export interface FaultReset {
  /** The kind of the fault. */
  readonly kind: 'reset';
  /**
   * With `'after'` the request is processed and only its response is lost. Has no effect on an upgrade.
   *
   * @defaultValue 'before'
   */
  readonly when?: 'before' | 'after';
}

/**
 * The request is processed, and a function changes its JSON response: to have duplicates, another order, elements of
 * another range or of an unknown kind. Status and headers stay, JSON errors are changed too, and a response that is not
 * JSON is sent unchanged. On a WebSocket the function is called with each message.
 *
 * @example
 * ```ts
 * import { startSandbox } from 'canton-rx/sandbox';
 *
 * const sandbox = await startSandbox();
 * const twice = (answer: unknown) => (Array.isArray(answer) ? [...answer, ...answer] : answer);
 * sandbox.fault({ kind: 'rewrite', body: twice }, { path: '/v2/updates' });
 * await sandbox.close();
 * ```
 * @category Sandbox
 */
export interface FaultRewrite {
  /** The kind of the fault. */
  readonly kind: 'rewrite';
  /**
   * Returns the new body or message. A string is sent as it is, any other value as JSON. If the function throws, or
   * returns a value without a JSON form such as `undefined`, the client gets a plain-text 500 without the reason; a
   * WebSocket is closed with 1011.
   *
   * @param answer - the parsed response or message, a copy that the function may change and return
   */
  readonly body: (answer: unknown) => unknown;
}

/**
 * The requests that a {@link Fault} applies to. Faults of the kinds `status`, `reset`, `hang` and `rewrite` apply to
 * requests and to upgrades to a WebSocket, faults of the kind `socket` to upgrades only, and all others to requests only.
 *
 * @category Sandbox
 */
export interface FaultScope {
  /**
   * The whole path, or a pattern for it.
   *
   * @defaultValue any path
   */
  readonly path?: string | RegExp;
  /**
   * The number of matching requests to let pass before the fault is due.
   *
   * Each fault has a count of its own. It counts every request that matches its `path` and its kind, on arrival, since the
   * fault was queued, including requests that another fault applies to. If several faults are due, the one that was queued
   * first applies, and the others apply to the next requests: with two faults of `after: 1`, the first request passes, the
   * second gets the first fault, the third the second one.
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

/**
 * The request is processed. Its response announces the full length, begins, and stalls until the client closes the
 * connection, or until `restart()` or `close()`. The log of requests has its `status`, and `aborted` once the client has
 * closed the connection.
 *
 * @category Sandbox
 */
export interface FaultStall {
  /** The kind of the fault. */
  readonly kind: 'stall';
  /** The number of bytes of the body that are sent. A response with no more bytes is sent in full. */
  readonly bytes: number;
}

/**
 * The request is processed. Its response announces the full length and is cut off.
 *
 * @category Sandbox
 */
export interface FaultTruncate {
  /** The kind of the fault. */
  readonly kind: 'truncate';
  /** The number of bytes of the body that are sent. */
  readonly bytes: number;
  /**
   * How the connection ends: closed at once, or reset (TCP RST) after 10 milliseconds, so that the client can read the
   * bytes first.
   *
   * @defaultValue 'close'
   */
  readonly how?: 'close' | 'reset';
}
