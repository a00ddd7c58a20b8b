/** A request had no answer. It holds nothing of the request. */
export class AskError extends Error {
  /** The class's name. */
  override readonly name = 'AskError' as const;

  constructor(
    /** The system's name for what happened, such as `ECONNREFUSED`; `'TIMEOUT'`, `'TOO_LARGE'` and `'NO_TOKEN'` are ours. */
    readonly code: string,
    /** Whether there was a connection. */
    readonly isConnected: boolean,
  ) {
    super(code);
  }
}
