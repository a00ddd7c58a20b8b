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
 * The sandbox does not process the request. It sends status 200, `application/json` and exactly this body, valid or
 * not.
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
 * The sandbox processes the request immediately and delays the response. If the delay exceeds `requestTimeoutMs`, the
 * client gets the 503 of a request timeout, although the request was processed. If it exceeds the
 * `stream_idle_timeout_ms` of a request for the active contracts, their list is empty.
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
 * The sandbox accepts the request, or the upgrade to a WebSocket, and never responds. The connection stays open until
 * the client closes it, or until `restart()` or `close()`.
 *
 * @category Sandbox
 */
export interface FaultHang {
  /** The kind of the fault. */
  readonly kind: 'hang';
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

/**
 * The sandbox resets the connection (TCP RST) instead of responding or upgrading to a WebSocket.
 *
 * @category Sandbox
 */
export interface FaultReset {
  /** The kind of the fault. */
  readonly kind: 'reset';
  /**
   * Whether to reset before or after processing the request. With `'after'`, only the response is lost. Has no effect
   * on an upgrade.
   *
   * @defaultValue 'before'
   */
  readonly when?: 'before' | 'after';
}

/**
 * The sandbox processes the request, and a function changes the JSON response. For example, it can send duplicates,
 * another order, or elements of another range or of an unknown kind. Status and headers stay the same. The function
 * also changes JSON errors, but not responses that are not JSON. On a WebSocket, it is called for each message.
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
   * Returns the new body or message. A string is sent as is, any other value as JSON. If the function throws, or
   * returns a value without a JSON form such as `undefined`, the client gets a plain-text 500 without the reason. A
   * WebSocket is closed with code 1011.
   *
   * @param answer - the parsed response or message, a copy that the function may change and return
   */
  readonly body: (answer: unknown) => unknown;
}

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

/**
 * The sandbox processes the request. The response announces its full length, begins, and stalls until the client closes
 * the connection, or until `restart()` or `close()`. The request log shows its `status`, and `aborted` once the client
 * has closed the connection.
 *
 * @category Sandbox
 */
export interface FaultStall {
  /** The kind of the fault. */
  readonly kind: 'stall';
  /** The number of bytes of the body to send. A response without further bytes is sent in full. */
  readonly bytes: number;
}

/**
 * The sandbox processes the request. The response announces its full length and is cut off.
 *
 * @category Sandbox
 */
export interface FaultTruncate {
  /** The kind of the fault. */
  readonly kind: 'truncate';
  /** The number of bytes of the body to send. */
  readonly bytes: number;
  /**
   * How the connection ends: closed immediately, or reset (TCP RST) after 10 milliseconds, so that the client can read
   * the bytes first.
   *
   * @defaultValue 'close'
   */
  readonly how?: 'close' | 'reset';
}

/**
 * A failure of a WebSocket. It applies to upgrades of `/v2/updates` and `/v2/updates/flats`, and its scope counts only
 * those.
 *
 * @example
 * ```ts
 * import { cantonError, startSandbox } from 'canton-rx/sandbox';
 *
 * const sandbox = await startSandbox();
 * const stale = cantonError('STALE_STREAM_AUTHORIZATION');
 * sandbox.fault({ kind: 'socket', how: 'refuse', status: 503 }); // the first upgrade gets a 503
 * sandbox.fault({ kind: 'socket', how: 'error', body: stale, elements: 2 }); // two elements, and an error
 * sandbox.fault({ kind: 'socket', how: 'close', code: 1001 });
 * sandbox.fault({ kind: 'socket', how: 'cut', elements: 7 });
 * sandbox.fault({ kind: 'socket', how: 'silence' });
 * await sandbox.close();
 * ```
 * @category Sandbox
 */
export type FaultSocket = {
  /** The kind of the fault. */
  readonly kind: 'socket';
} & (
  | (Omit<FaultStatus, 'kind' | 'when'> & {
      /** The upgrade gets an HTTP response, as described by {@link FaultStatus}. */
      readonly how: 'refuse';
    })
  | ({
      /**
       * The number of elements, including checkpoints, to send before the fault. With 0, the fault follows the request
       * immediately. It has no effect on a stream that ends earlier.
       *
       * @defaultValue 0
       */
      readonly elements?: number;
    } & (
      | {
          /** The server sends a close frame, as at the end of a stream. */
          readonly how: 'close';
          /**
           * The close code: 1000 to 1014 except 1004 to 1006, or 3000 to 4999.
           *
           * @defaultValue 1000
           */
          readonly code?: number;
          /**
           * The close reason.
           *
           * @defaultValue ''
           */
          readonly reason?: string;
        }
      | {
          /**
           * The connection is reset (TCP RST) after 10 milliseconds, so that the client can read the messages first.
           */
          readonly how: 'cut';
        }
      | {
          /**
           * The connection stays open, but the server sends nothing more, not even a pong or a close frame, as after a
           * power failure. It stays open until the client closes it, or until `restart()` or `close()`.
           */
          readonly how: 'silence';
        }
      | {
          /** The server sends this message and then a close frame with code 1000, as participants report errors. */
          readonly how: 'error';
          /** The message. A string is sent as is, any other value as JSON; see {@link cantonError}. */
          readonly body: unknown;
        }
    ))
);

/**
 * The sandbox sends this response, and does not process the request or the upgrade to a WebSocket. With `'after'`, it
 * does: so a participant responds that commits a submission, and then fails to read its transaction.
 *
 * @category Sandbox
 */
export interface FaultStatus {
  /** The kind of the fault. */
  readonly kind: 'status';
  /** The HTTP status. */
  readonly status: number;
  /** A string is sent as text, any other value as JSON; see {@link cantonError}. */
  readonly body?: unknown;
  /** Replaces the default content type of the body. */
  readonly contentType?: string;
  /** Additional headers, such as `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Whether to respond before or after processing the request. With `'after'`, a request that fails gets its own error.
   * Has no effect on an upgrade.
   *
   * @defaultValue 'before'
   */
  readonly when?: 'before' | 'after';
}
