import type { Transport } from '../feed/LedgerFeed.js';
import type { HttpPort } from '../http/HttpPort.js';
import type { Token } from '../http/Link.js';
import type { RetryPolicy } from '../http/retry.js';

/**
 * The address of a participant, and how to connect to it.
 *
 * @category Ledger
 */
export interface LedgerOptions {
  /** The URL of the JSON Ledger API, with its path prefix if it has one, such as `https://participant.example:7575`. */
  readonly baseUrl: string;
  /**
   * The bearer token, or a function that returns it as a string, an Observable or a Promise. Default: no token is sent.
   *
   * The client calls the function before every request, because participants accept only tokens that are valid for a
   * few minutes. If the participant refuses the token, the client calls the function again. If it returns the same
   * token, or another token that is refused, the request fails with an `UnauthorizedError`; in the second case, a feed
   * retries with back-off.
   */
  readonly token?: Token | undefined;
  /** Headers for every request, in addition to those that the library sets. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Replaces the global `fetch`, for example to trace or route requests. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /**
   * How long a response may take, in milliseconds. For a request for new updates, its idle timeout is added. The
   * participant's own timeout is 20 000, unless `serverTimeoutMs` changes it.
   *
   * @defaultValue 30000, or 10000 more than `serverTimeoutMs` if that is longer
   */
  readonly requestTimeoutMs?: number | undefined;
  /**
   * How long the participant may process a request, in milliseconds: a whole number from 1000 to 60000. The client sends
   * it as the header `Request-Timeout`, which participants obey since 3.6.1, and earlier releases ignore. After that
   * time the response is a 408: a feed retries, and the outcome of a submission is determined as after any lost response.
   * A longer time than the participant's 20 000 helps submissions and large pages. A request for new updates is sent
   * without the header if its idle timeout is not shorter.
   *
   * An operator can narrow the window. The participant then refuses every request with a 400 that names the limit. In
   * browsers, the header causes a CORS preflight, and the participant or a proxy must allow it.
   *
   * @defaultValue the header is not sent
   */
  readonly serverTimeoutMs?: number | undefined;
  /**
   * The maximum size of a response, in bytes. It limits how much memory a faulty participant can use. If a response is
   * larger, a feed requests smaller pages; any other request fails with an `ResponseTooLargeError`. A decoded response
   * takes a few times its size in memory, and up to fifty times if it is crafted for that. Has no effect with `port`.
   *
   * @defaultValue 33554432, 32 MiB
   */
  readonly maxResponseBytes?: number | undefined;
  /** How to retry after a transient failure. Default: the defaults of {@link RetryPolicy}. */
  readonly retry?: RetryPolicy | undefined;
  /**
   * The path that serves updates. `'auto'` starts with `/v2/updates/flats`. If the participant does not serve that path
   * (3.6 and later), the client switches to `/v2/updates`, even in the middle of a feed.
   *
   * @defaultValue 'auto'
   */
  readonly updatesPath?: 'auto' | '/v2/updates/flats' | '/v2/updates' | undefined;
  /** Replaces ky, for tests or for another HTTP client. `fetch` then has no effect. */
  readonly port?: HttpPort | undefined;
  /**
   * How feeds without an end receive new updates once they have caught up, such as `webSocketTransport()` from
   * `canton-rx/ws`. The options of a feed can override it. Default: feeds poll.
   */
  readonly transport?: Transport | undefined;
}
