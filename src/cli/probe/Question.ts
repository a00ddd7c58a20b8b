/** One request of a command that looks at a ledger more closely than its users do. */
export interface Question {
  readonly method: 'GET' | 'POST';
  /** With its query, if it has one. */
  readonly path: string;
  /** JSON, for POST. */
  readonly body?: unknown;
  /** Whether the token is left out. */
  readonly isAnonymous?: boolean;
}
