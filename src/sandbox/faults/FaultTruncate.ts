/** The request is processed; its answer announces its full length and is cut off. */
export interface FaultTruncate {
  /** Tells the faults apart. */
  readonly kind: 'truncate';
  /** How many bytes of the body still arrive. */
  readonly bytes: number;
  /**
   * How the connection ends then: closed, or reset (TCP RST) 10 milliseconds later, which is the time for a client to
   * read the bytes. Default `'close'`.
   */
  readonly how?: 'close' | 'reset';
}
