/** Why an event is served, and how much of it. */
export interface EventMatch {
  readonly witnessParties: readonly string[];
  /** False if only interfaces were asked for. */
  readonly argument: boolean;
  readonly blob: boolean;
  /** The interfaces, by package id, whose views were asked for. */
  readonly views: ReadonlySet<string>;
}
