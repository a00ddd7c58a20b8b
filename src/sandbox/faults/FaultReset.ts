/** The connection is reset (TCP RST) instead of an answer, or instead of an upgrade to a WebSocket. */
export interface FaultReset {
  /** Tells the faults apart. */
  readonly kind: 'reset';
  /** `'after'`: the request was processed, only its answer is lost. Default `'before'`, and no matter for an upgrade. */
  readonly when?: 'before' | 'after';
}
