/** A submission, from the click on. */
export interface Run {
  readonly commandId: string;
  readonly title: string;
  readonly startedAt: number;
  readonly steps: readonly Step[];
  /** How it ended; absent while it goes on. */
  readonly outcome?: Outcome;
}

export interface Step {
  readonly label: string;
  readonly note: string;
  readonly isTrouble: boolean;
  /** Since the start, in milliseconds. */
  readonly afterMs: number;
}

export interface Outcome {
  readonly kind: 'committed' | 'rejected' | 'unknown' | 'failed';
  readonly text: string;
  /** Where it was committed. */
  readonly offset?: number;
}
