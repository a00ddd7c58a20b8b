/** One request as the sandbox saw it. The object is live: `body`, `status` and `aborted` are filled in as it goes on. */
export interface SandboxRequest {
  /** The HTTP method. */
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  /** The query parameters. */
  readonly query: Readonly<Record<string, string>>;
  /** The parsed JSON body, the text if it is no JSON, `undefined` if there was none. */
  readonly body: unknown;
  /** Whether a bearer token came along. The token itself is never kept. */
  readonly authorized: boolean;
  /** When the request arrived, in milliseconds since the epoch. */
  readonly at: number;
  /** The HTTP status, once answered. */
  readonly status?: number;
  /** Whether the client went away before the end of its answer. */
  readonly aborted: boolean;
}
