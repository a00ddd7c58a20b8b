import { defer, fromEventPattern, ignoreElements, interval, map, merge, type Observable, takeWhile, tap } from 'rxjs';
import WebSocket from 'ws';
import type { ClientOptions } from 'ws';
import { ConnectionError } from '../errors/request.js';
import { pathOf } from '../http/kyPort.js';
import { clampTimer, checkPositive, mapError } from '../http/retry.js';
import type { SocketPort, SocketSign } from '../http/SocketPort.js';
import { socketEvents } from '../http/webSocketPort.js';

/** How sockets are kept. */
export interface WsPortOptions {
  /**
   * How often the other side is asked whether it is still there, in milliseconds. A participant cuts a connection on which
   * nothing came for 60 000, and asks nothing itself; a feed takes a socket without a sign of life for 30 000 for lost.
   *
   * @defaultValue 12000
   */
  readonly pingEveryMs?: number | undefined;
  /**
   * The largest message that is read, in bytes. A larger one ends the socket, and is read by HTTP.
   *
   * @defaultValue 33554432, 32 MiB
   */
  readonly maxMessageBytes?: number | undefined;
  /** Makes the connections, in place of Node's own: through a proxy, or with certificates of your own. */
  readonly agent?: ClientOptions['agent'];
}

/** An option of `ws` from 8.19 on; before, it waits for half a minute. */
interface Closing {
  readonly closeTimeout: number;
}

/** How long the other side may take to end the connection behind a close, in milliseconds; nothing comes any more. */
const closeMs = 1_000;

/** More bytes than this make no string in Node.js: trying to would end the process. */
const longestText = 2 ** 29 - 24;

/**
 * The WebSockets of Node.js for a ledger's feeds, by the package `ws`: it sends the token and the ledger's other headers as
 * headers, and keeps idle sockets open with pings, neither of which a platform's own `WebSocket` can do.
 *
 * @throws TypeError for options that make no sense
 * @example
 * ```ts
 * import { acsDelta, createLedger } from 'canton-rx';
 * import { wsPort } from 'canton-rx/ws';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575', webSocket: wsPort() });
 * const updates$ = ledger.updates(
 *   { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) },
 *   { transport: 'websocket' },
 * );
 * ```
 */
export function wsPort(options: WsPortOptions = {}): SocketPort {
  const { pingEveryMs = 12_000, maxMessageBytes = 32 * 2 ** 20, agent } = options;
  checkPositive({ pingEveryMs, maxMessageBytes });
  return ({ url, protocols, headers, message }) =>
    defer(() => {
      const closing: Closing = { closeTimeout: closeMs };
      const socket = new WebSocket(url, [...protocols], {
        ...closing,
        headers,
        agent,
        // half a byte, or more than it counts to, would be no limit to ws
        maxPayload: Math.ceil(Math.min(maxMessageBytes, longestText)),
        // to another place no token is sent
        followRedirects: false,
        perMessageDeflate: false,
      });
      // an error that nobody listens to would end the process; its end tells enough, and is not to wait for the other side
      socket.on('error', () => {
        socket.terminate();
      });
      // a participant does not answer a close as long as there may be updates
      const signs$ = socketEvents(
        () => socket,
        message,
        () => {
          socket.terminate();
        },
      );
      return merge(signs$, pongs(socket), pings(socket, pingEveryMs)).pipe(
        takeWhile(({ _tag }) => _tag !== 'End', true),
        mapError((error) => refusalOf(error, url)),
      );
    });
}

const pings = (socket: WebSocket, everyMs: number): Observable<never> =>
  interval(clampTimer(everyMs)).pipe(
    tap(() => {
      if (socket.readyState === WebSocket.OPEN) socket.ping();
    }),
    ignoreElements(),
  );

const pongs = (socket: WebSocket): Observable<SocketSign> =>
  fromEventPattern(
    (handler) => socket.on('pong', handler),
    (handler) => socket.off('pong', handler),
  ).pipe(map(() => ({ _tag: 'Alive' })));

/**
 * Why a socket was not opened, where `ws` tells: by its words alone, of which a number goes further at most, since answers
 * may quote what was sent. Any other error as it is.
 */
export function refusalOf(error: unknown, url: string): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  const words = cause instanceof Error ? cause.message : '';
  const status = /^Unexpected server response: (\d{3})$/.exec(words)?.[1];
  if (status !== undefined) return new ConnectionError(pathOf(url), `the upgrade was answered with ${status}`);
  if (/^Server sent .*subprotocol$/.test(words))
    return new ConnectionError(pathOf(url), 'the upgrade was answered without the subprotocol');
  return error;
}
