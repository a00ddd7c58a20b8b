import type { HttpPort } from '../http/HttpPort.js';
import type { Token } from '../http/Link.js';
import type { RetryPolicy } from '../http/retry.js';
import type { SocketPort } from '../http/SocketPort.js';

/** Where the ledger service is, and how to talk to it. */
export interface LedgerOptions {
  /** The address of the JSON Ledger API, with its path prefix if it has one: `https://participant.example:7575`. */
  readonly baseUrl: string;
  /**
   * The bearer token, or a function that provides it as a string, an Observable or a Promise. A function is asked anew
   * for every request: participants accept tokens of a few minutes only. Default: no token is sent.
   */
  readonly token?: Token | undefined;
  /** Headers for every request, beside those that the library sets. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Used in place of the global `fetch`, to trace or to route requests. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /**
   * How long an answer may take, in milliseconds; a request that waits for what has not happened yet may take its idle
   * timeout longer. The participant itself gives up after 20 000.
   *
   * @defaultValue 30000
   */
  readonly requestTimeoutMs?: number | undefined;
  /**
   * The largest answer that is read, in bytes: what a service that runs wild may take of this machine's memory. A feed
   * asks for smaller pages instead; anything else ends with an `AnswerTooLargeError`. Decoded, an answer takes a few times
   * its size of memory, and up to fifty times of one that is made for that. Has no effect beside `port`.
   *
   * @defaultValue 33554432, 32 MiB
   */
  readonly maxAnswerBytes?: number | undefined;
  /** How feeds ask again after a transient failure. */
  readonly retry?: RetryPolicy | undefined;
  /**
   * Where updates are served. `'auto'` asks `/v2/updates/flats`, and where that is gone (3.6) goes over to `/v2/updates`
   * for good, in mid-stream too.
   *
   * @defaultValue 'auto'
   */
  readonly updatesPath?: 'auto' | '/v2/updates/flats' | '/v2/updates' | undefined;
  /** The way to the service, in place of ky: for tests, or for another HTTP client. `fetch` has no effect beside it. */
  readonly port?: HttpPort | undefined;
  /**
   * The way to the service's WebSockets, for feeds with `transport: 'websocket'`. In Node.js that is `wsPort()` of
   * `canton-rx/ws`. Default: the platform's own `WebSocket`, which browsers have, and Node.js from 22 on; it cannot send
   * `headers`, and lets an idle socket be cut.
   */
  readonly webSocket?: SocketPort | undefined;
}
