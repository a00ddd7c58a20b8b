/** The connection is reset (TCP RST) instead of an answer. */
export interface FaultReset {
  /** Tells the faults apart. */
  readonly kind: 'reset';
  /** `'after'`: the request was processed, only its answer is lost. Default `'before'`. */
  readonly when?: 'before' | 'after';
}
