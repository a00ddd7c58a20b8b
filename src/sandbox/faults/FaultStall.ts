/**
 * The request is processed; its answer announces its full length, begins, and does not go on. It ends with the client,
 * or with `restart()` or `close()`. Its `status` is in the log of requests, and `aborted` once the client has left.
 */
export interface FaultStall {
  /** Tells the faults apart. */
  readonly kind: 'stall';
  /** How many bytes of the body arrive. An answer that has no more than that is not harmed. */
  readonly bytes: number;
}
