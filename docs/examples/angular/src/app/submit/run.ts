/** A submission, from the click to its outcome. */
export interface Run {
  readonly commandId: string;
  readonly title: string;
  readonly startedAt: number;
  readonly steps: readonly Step[];
  /** Its outcome; absent while it runs. */
  readonly outcome?: Outcome;
}

export interface Step {
  readonly label: string;
  readonly note: string;
  readonly isTrouble: boolean;
  /** What comes after it. */
  readonly next: string;
  /** The time since the start, in milliseconds. */
  readonly afterMs: number;
}

export interface Outcome {
  readonly kind: 'committed' | 'rejected' | 'unknown' | 'failed';
  readonly text: string;
  /** Why it was not committed, in the words of the ledger or of the library. */
  readonly reason?: string;
  /** The offset at which it was committed. */
  readonly offset?: number;
}
