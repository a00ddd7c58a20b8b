/**
 * One request as the sandbox saw it. The object is live: `body`, `status` and `aborted` are filled in as it goes on. A
 * WebSocket is a `GET` with status 101, and its body is the first message.
 */
export interface SandboxRequest {
  /** The HTTP method. */
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  /** The query parameters. */
  readonly query: Readonly<Record<string, string>>;
  /** The parsed JSON body, the text if it is no JSON, `undefined` if there was none. */
  readonly body: unknown;
  /** Whether a token came along: as a bearer, or in the first subprotocol of a WebSocket. The token itself is never kept. */
  readonly authorized: boolean;
  /** When the request arrived, in milliseconds since the epoch. */
  readonly at: number;
  /** The HTTP status, once answered. */
  readonly status?: number;
  /** Whether the client went away before the end of its answer, or of its stream. */
  readonly aborted: boolean;
}
