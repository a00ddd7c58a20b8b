/**
 * The request, or the upgrade to a WebSocket, is accepted and never answered; it ends with the client, or with `restart()`
 * or `close()`.
 */
export interface FaultHang {
  /** Tells the faults apart. */
  readonly kind: 'hang';
}
