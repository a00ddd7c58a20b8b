/** What a ratio is to be. */
export interface Goal {
  readonly atMost?: number;
  readonly atLeast?: number;
}

/** One figure of the table. */
export interface Row {
  readonly id: string;
  /** What is compared with what. */
  readonly figure: string;
  /** One of each set; none where it could not be measured. */
  readonly ratios: readonly number[];
  /** Without one, a figure is for information. */
  readonly goal?: Goal;
  /** What else there is to know, the absolute figures say. */
  readonly note?: string;
}

/** How thoroughly to measure. */
export interface Effort {
  /** How many times each variant is measured, in a process of its own each time. */
  readonly sets: number;
  /** How much shorter than usual a run is. */
  readonly scale: number;
}

/** What can be asked for by its name; a few rows of the table, since some are measured together. */
export interface Line {
  readonly id: string;
  readonly about: string;
  readonly isOnDemand?: boolean;
  readonly measure: (effort: Effort) => Promise<readonly Row[]>;
}
