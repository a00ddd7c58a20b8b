/** Which ledger, and how to be let in. */
export interface Connection {
  /** The address of its JSON Ledger API. */
  readonly ledger: string;
  /** Provides the token of a request; throws where there is none. Absent: no token is sent. */
  readonly token: (() => string) | undefined;
}
