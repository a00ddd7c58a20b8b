/**
 * An HTTP port that takes less time per request than the default one, which uses `fetch`. Needs the package `undici` in
 * addition to `canton-rx`, and runs in Node.js.
 *
 * @example
 * ```ts
 * import { createLedger } from 'canton-rx';
 * import { undiciPort } from 'canton-rx/undici';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575', port: undiciPort() });
 * ledger.ledgerEnd().subscribe((offset) => console.log(`the ledger ends at ${offset}`));
 * ```
 *
 * @module canton-rx/undici
 */

import { map, Observable } from 'rxjs';
import { Agent, type Dispatcher } from 'undici';
import { ResponseTooLargeError } from '../errors/request.js';
import { decodeText } from '../http/kyPort.js';
import type { HttpPort, HttpRequest, HttpResponse } from '../http/HttpPort.js';
import { checkPositive } from '../codecs/internal/numbers.js';

/**
 * Options of {@link undiciPort}.
 *
 * @category Transports
 */
export interface UndiciPortOptions {
  /**
   * Opens and keeps the connections: an `Agent` with other settings, a `ProxyAgent`, or a `MockAgent` in tests. It must
   * not follow redirects or retry requests. Its timeouts for responses have no effect; its connect timeout does. The
   * port never closes it.
   *
   * @defaultValue a separate `Agent`, which neither reads the environment nor is undici's global dispatcher
   */
  readonly dispatcher?: Dispatcher | undefined;
  /**
   * The maximum size of a response body, in bytes. A larger one is a `ResponseTooLargeError`, and the connection is closed.
   *
   * @defaultValue 33554432, 32 MiB
   */
  readonly maxResponseBytes?: number | undefined;
}

/**
 * Creates an HTTP port for Node.js based on the package `undici`. It sends the same requests as the default port, which
 * uses `fetch`, and takes less time for each. Like the default port, it does not follow redirects, retry or time out.
 *
 * It does not accept compressed responses. A response that is compressed nevertheless is an error with the code
 * `CONTENT_ENCODING`. Not for Bun, whose own `undici` does not connect: use the default port there.
 *
 * @param options - the dispatcher and the maximum size of a response
 * @returns the port, for the option `port` of a ledger
 * @throws TypeError for invalid options, and in Bun
 * @example
 * ```ts
 * import { createLedger } from 'canton-rx';
 * import { undiciPort } from 'canton-rx/undici';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575', port: undiciPort() });
 * ledger.ledgerEnd().subscribe((offset) => {
 *   console.log(`the ledger ends at ${offset}`);
 * });
 * ```
 *
 * @category Transports
 */
export function undiciPort(options: UndiciPortOptions = {}): HttpPort {
  // the undici that Bun has built in never connects
  if ('Bun' in globalThis)
    throw new TypeError('undiciPort does not work in Bun: leave out the option port, so that the ledger uses fetch');
  const { dispatcher = new Agent(), maxResponseBytes = 32 * 2 ** 20 } = options;
  checkPositive({ maxResponseBytes });
  return (request) => receive(request, dispatcher, maxResponseBytes).pipe(map(toResponse));
}

/** A response as it was received. */
interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: readonly Uint8Array[];
}

/**
 * Sends a request and emits its response. Does not use undici's `request`, which creates a stream for every body.
 * Unsubscribing aborts the request; so does an error of the port, so that the connection is closed.
 */
const receive = (request: HttpRequest, dispatcher: Dispatcher, maxBytes: number): Observable<Answer> =>
  new Observable((subscriber) => {
    const { method, headers, body = null } = request;
    const { origin, pathname, search } = new URL(request.url);
    const chunks: Uint8Array[] = [];
    let answer: Answer = { status: 0, headers: {}, chunks };
    let bytes = 0;
    let running: Dispatcher.DispatchController | undefined;
    const checkSize = (size: number): void => {
      if (size > maxBytes) subscriber.error(new ResponseTooLargeError(pathname, maxBytes));
    };
    dispatcher.dispatch(
      // no timeouts: only the feed knows how long a poll may take
      { origin, path: pathname + search, method, headers, body, headersTimeout: 0, bodyTimeout: 0 },
      {
        onRequestStart: (controller) => {
          running = controller;
          // unsubscribed while waiting for a connection
          if (subscriber.closed) abort(controller);
        },
        onResponseStart: (_, status, received) => {
          answer = { status, headers: toHeaders(received), chunks };
          checkSize(Number(answer.headers['content-length']));
        },
        onResponseData: (_, chunk) => {
          chunks.push(chunk);
          bytes += chunk.byteLength;
          checkSize(bytes);
        },
        onResponseEnd: () => {
          running = undefined;
          subscriber.next(answer);
          subscriber.complete();
        },
        onResponseError: (_, error) => {
          running = undefined;
          subscriber.error(withCode(error));
        },
      },
    );
    return () => {
      if (running !== undefined) abort(running);
    };
  });

/** The error of a response that is not HTTP/1.1 has no code in some versions of undici. In Node.js, such codes begin with `HPE_`. */
const withCode = (error: Error): Error =>
  error.name === 'HTTPParserError' ? Object.assign(new Error('no HTTP/1.1'), { code: 'HPE_INVALID' }) : error;

function abort(controller: Dispatcher.DispatchController): void {
  controller.abort(new Error('the request was aborted'));
}

type ReceivedHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A header that occurs several times has an array of values. */
const toHeaders = (headers: ReceivedHeaders): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

/** A body that is not UTF-8, or that is compressed, is an error. In an error response only the status matters. */
function toResponse({ status, headers, chunks }: Answer): HttpResponse {
  const isOk = status >= 200 && status <= 299;
  const isCompressed = !['', 'identity'].includes(headers['content-encoding'] ?? '');
  if (isOk && isCompressed) throw Object.assign(new Error('the response is compressed'), { code: 'CONTENT_ENCODING' });
  return { status, headers, text: isCompressed ? '' : decodeText(chunks, isOk) };
}
