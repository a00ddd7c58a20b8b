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
