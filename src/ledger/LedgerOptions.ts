import { Addresses, type BaseUrl, validateBaseUrl } from '../client/Addresses.js';
import { Client, type ClientSettings } from '../client/Client.js';
import type { Interceptor } from '../client/Interceptor.js';
import { type Token, TokenSource } from '../client/TokenSource.js';
import { tokenProblem } from '../errors/request.js';
import type { Transport } from '../feed/LedgerFeed.js';
import { checkOptions } from '../feed/UpdatesOptions.js';
import { type HttpPort, parseHeaders } from '../http/HttpPort.js';
import { kyPort } from '../http/kyPort.js';
import { checkNotNegative, checkPositive } from '../codecs/internal/numbers.js';
import type { RetryPolicy } from '../http/retry.js';

/**
 * The address of a participant, and how to connect to it.
 *
 * @category Ledger
 */
export interface LedgerOptions {
  /**
   * The URL of the JSON Ledger API, with its path prefix if it has one, such as `https://participant.example:7575`. A list of
   * URLs names several participants that host the same parties, of which one is in use: after an outage of
   * `nextAddressAfterMs`, the requests go to the next. A function returns the URL for a request.
   *
   * Every address gets the token and the headers. Each participant has its own offsets: a feed continues at another
   * one only if the ledger is proven to be the same: see `docs/running-services.md`. A submission stays at the address where
   * it began until its outcome is known, because its offsets and its deduplication belong to that participant.
   */
  readonly baseUrl: BaseUrl;
  /**
   * How long the present address of a list must fail, without one answer, before a request goes to the next one, in
   * milliseconds. Has no effect on a single address or a function.
   *
   * @defaultValue 10000
   */
  readonly nextAddressAfterMs?: number | undefined;
  /**
   * The bearer token alone, without `Bearer`, or a function that returns it as a string, an Observable or a Promise. Default: no token is sent.
   *
   * The client calls the function before every request, because participants accept only tokens that are valid for a
   * few minutes, and once for all requests that wait at the same time. If the participant refuses the token, the client
   * calls the function with the refused token as its argument. If it returns the same token, or another one that is
   * refused, the request fails with an `UnauthorizedError`. A feed then retries with back-off, unless no token was ever
   * accepted and the function returned the same one. For OAuth 2, use {@link clientCredentials}.
   */
  readonly token?: Token | undefined;
  /**
   * Headers for every request, in addition to those that the library sets. A header that `fetch` does not send, such as
   * `host`, is a TypeError, unless there is a `port`: that of `canton-rx/undici` sends `host`.
   */
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
   * larger, a feed requests smaller pages; any other request fails with a `ResponseTooLargeError`. A decoded response takes
   * a few times its size in memory, and up to fifty times if it is crafted for that. Has no effect with `port`.
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
  /**
   * What sees the requests, feeds and submissions of the ledger, such as `openTelemetry()` from `canton-rx/otel`. The first
   * one is the outermost. Default: none.
   */
  readonly interceptors?: readonly Interceptor[] | undefined;
}

/** Creates the client of a ledger. */
export function createClient(options: LedgerOptions): Client {
  const {
    baseUrl,
    nextAddressAfterMs,
    token,
    headers = {},
    serverTimeoutMs,
    maxResponseBytes,
    updatesPath = 'auto',
  } = options;
  checkToken(token);
  checkPositive({ maxResponseBytes });
  checkServerTimeout(serverTimeoutMs);
  const { requestTimeoutMs = Math.max(30_000, (serverTimeoutMs ?? 0) + answerDelayMs) } = options;
  checkPositive({ requestTimeoutMs });
  checkOptions(options);
  const settings: ClientSettings = {
    port: options.port ?? kyPort(options),
    address: addressesOf(baseUrl, nextAddressAfterMs, requestTimeoutMs),
    headers: validateHeaders(headers, options.port === undefined),
    tokens: new TokenSource(token, requestTimeoutMs),
    requestTimeoutMs,
    serverTimeoutMs,
    retry: options.retry,
    updatesPath,
    interceptors: options.interceptors,
  };
  return new Client(settings);
}

/** How much longer the client waits than the participant, in milliseconds, so that the participant's response arrives. */
const answerDelayMs = 10_000;

/** The times that a participant accepts by default, in milliseconds. */
const serverTimeouts = { min: 1_000, max: 60_000 };

function checkServerTimeout(serverTimeoutMs: number | undefined): void {
  checkPositive({ serverTimeoutMs }, true);
  if (serverTimeoutMs === undefined) return;
  const { min, max } = serverTimeouts;
  if (serverTimeoutMs < min || serverTimeoutMs > max)
    throw new TypeError(`serverTimeoutMs must be from ${min} to ${max}`);
}

/** A token that never changes: if it cannot be one, no request succeeds. */
function checkToken(token: LedgerOptions['token']): void {
  const problem = typeof token === 'function' || token === undefined ? undefined : tokenProblem(token);
  if (problem !== undefined) throw new TypeError(`token ${problem}`);
}

/** Returns the address of a ledger, or its addresses if there may be several. */
function addressesOf(baseUrl: BaseUrl, nextAddressAfterMs = 10_000, timeoutMs: number): string | Addresses {
  checkNotNegative({ nextAddressAfterMs });
  if (typeof baseUrl === 'function') return new Addresses(baseUrl, nextAddressAfterMs, timeoutMs);
  const [first, ...others] = [baseUrl].flat().map(validateBaseUrl);
  if (first === undefined) throw new TypeError('baseUrl must have an address');
  return others.length === 0 ? first : new Addresses([first, ...others], nextAddressAfterMs, timeoutMs);
}

/** @param areSentByFetch - whether `fetch` sends them, which cannot send all */
function validateHeaders(
  headers: Readonly<Record<string, string>>,
  areSentByFetch: boolean,
): Readonly<Record<string, string>> {
  const valid = parseHeaders(headers);
  const dropped = areSentByFetch ? Object.keys(valid).filter(isDroppedByFetch) : [];
  if (dropped.length > 0)
    throw new TypeError(
      `headers: fetch does not send ${dropped.join(', ')}: leave that out, or use a port that sends it, such as undiciPort() of canton-rx/undici`,
    );
  return valid;
}

/** Headers that the `fetch` of Node.js replaces, leaves out or refuses, and those that describe a single connection. */
const droppedByNode =
  /^(connection|content-length|expect|host|keep-alive|sec-fetch-mode|te|trailer|transfer-encoding|upgrade)$/;

/** Whether `fetch` does not send a header. Browsers leave out more than Node.js, and their `Request` shows which. */
const isDroppedByFetch = (name: string): boolean =>
  droppedByNode.test(name) || !new Request('http://ledger.invalid', { headers: { [name]: 'x' } }).headers.has(name);
