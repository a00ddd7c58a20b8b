import type { Transport } from '../feed/Transport.js';
import type { HttpPort } from '../http/HttpPort.js';
import type { Token } from '../http/Link.js';
import type { RetryPolicy } from '../http/retry.js';

/**
 * The address of a ledger service, and how to connect to it.
 *
 * @category Ledger
 */
export interface LedgerOptions {
  /** The address of the JSON Ledger API, including its path prefix if it has one: `https://participant.example:7575`. */
  readonly baseUrl: string;
  /**
   * The bearer token, or a function that returns it as a string, an Observable or a Promise. A function is called before
   * every request: participants only accept tokens that are valid for a few minutes. It is called again when the service
   * refuses the token; a request fails with an `UnauthorizedError` if it returns the same token, or another one that is
   * refused, too. In the second case a feed retries with back-off. Default: no token is sent.
   */
  readonly token?: Token | undefined;
  /** Headers of every request, in addition to those that the library sets. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Replaces the global `fetch`, for example to trace or to route requests. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /**
   * How long an answer may take, in milliseconds. The timeout of a request for new updates is longer by its idle timeout. The
   * participant's own timeout is 20 000.
   *
   * @defaultValue 30000
   */
  readonly requestTimeoutMs?: number | undefined;
  /**
   * The largest answer that is read, in bytes, which limits how much memory a faulty service can take. A feed then requests
   * smaller pages; any other request fails with an `AnswerTooLargeError`. A decoded answer takes a few times its size of
   * memory, and up to fifty times if it is crafted for that. Has no effect with `port`.
   *
   * @defaultValue 33554432, 32 MiB
   */
  readonly maxAnswerBytes?: number | undefined;
  /** How to retry after a transient failure. */
  readonly retry?: RetryPolicy | undefined;
  /**
   * The path that serves updates. `'auto'` starts with `/v2/updates/flats`; if that is gone (3.6), the ledger uses
   * `/v2/updates` from then on, also in the middle of a feed.
   *
   * @defaultValue 'auto'
   */
  readonly updatesPath?: 'auto' | '/v2/updates/flats' | '/v2/updates' | undefined;
  /** Replaces ky, for tests or for another HTTP client. `fetch` has no effect with it. */
  readonly port?: HttpPort | undefined;
  /**
   * How feeds without an end receive new updates once they have caught up, such as `webSocketTransport()` of `canton-rx/ws`.
   * A feed may have another. Default: they poll.
   */
  readonly transport?: Transport | undefined;
}
