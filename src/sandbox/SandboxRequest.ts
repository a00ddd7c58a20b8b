/**
 * A request in the sandbox's log. `body`, `status` and `aborted` change while the request proceeds. A WebSocket appears
 * as a `GET` with status 101, whose body is its first message.
 *
 * @category Sandbox
 */
export interface SandboxRequest {
  /** The HTTP method. */
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  /** The query parameters. */
  readonly query: Readonly<Record<string, string>>;
  /** The parsed JSON body, the text if it is not JSON, or `undefined` if there is no body. */
  readonly body: unknown;
  /**
   * Whether the request has a bearer token, or a token in the first subprotocol of a WebSocket. The token is not
   * stored.
   */
  readonly authorized: boolean;
  /** The time of arrival, in milliseconds since the epoch. */
  readonly at: number;
  /** The HTTP status; absent until the response is sent. */
  readonly status?: number;
  /** Whether the client closed the connection before the end of its response or stream. */
  readonly aborted: boolean;
}
