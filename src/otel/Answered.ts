/** What has come of a request; nothing where its subscriber has left. */
export interface Answered {
  /** The HTTP status, if there was an answer. */
  readonly status: number | undefined;
  readonly json?: unknown;
  readonly error?: unknown;
}
