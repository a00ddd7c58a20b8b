/** A command that was committed. */
export interface Accepted {
  readonly submissionId: string;
  readonly completionOffset: number;
  /** When, in milliseconds since the epoch. */
  readonly at: number;
}
