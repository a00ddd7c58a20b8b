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
