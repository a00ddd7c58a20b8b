/**
 * The request is processed at once and answered late. Later than `requestTimeoutMs`, the client
 * gets the 503 of the request timeout for work that was done.
 */
export interface FaultDelay {
  /** Tells the faults apart. */
  readonly kind: 'delay';
  /** How long the answer is held back. */
  readonly ms: number;
}
