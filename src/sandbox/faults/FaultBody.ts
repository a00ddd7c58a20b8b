/** The request is not processed; the answer is 200, `application/json` and exactly this body, however odd. */
export interface FaultBody {
  /** Tells the faults apart. */
  readonly kind: 'body';
  /** The whole body. */
  readonly body: string;
}
