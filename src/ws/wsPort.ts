import { defer, fromEventPattern, ignoreElements, interval, map, merge, type Observable, takeWhile, tap } from 'rxjs';
import WebSocket from 'ws';
import type { ClientOptions } from 'ws';
import { ConnectionError } from '../errors/request.js';
import { pathOf } from '../http/HttpPort.js';
import { clampTimer, mapError } from '../http/retry.js';
import { socketEvents, type SocketPort, type SocketSign, type WebSocketTransportOptions } from './SocketPort.js';

/**
 * Returns the port for WebSockets in Node.js, based on the package `ws`. It sends the token and the other headers of
 * the ledger as headers, and keeps idle sockets open with pings. The platform's own `WebSocket` can do neither.
 */
export function wsPort(options: WebSocketTransportOptions = {}): SocketPort {
  const { pingEveryMs = 12_000, maxMessageBytes = 32 * 2 ** 20, agent } = options;
  return ({ url, protocols, headers, message }) =>
    defer(() => {
      const closeOptions: CloseOptions = { closeTimeout: closeTimeoutMs };
      const socket = new WebSocket(url, [...protocols], {
        ...closeOptions,
        headers,
        // any agent of Node.js
        agent: agent as ClientOptions['agent'],
        // ws treats a fraction of a byte, or a number beyond 32 bits, as no limit
        maxPayload: Math.ceil(Math.min(maxMessageBytes, maxStringBytes)),
        // the token must not be sent to another server
        followRedirects: false,
        perMessageDeflate: false,
      });
      // an error without a listener would end the process; the close event follows immediately
      socket.on('error', () => {
        socket.terminate();
      });
      // terminates, because a participant does not answer a close while there may be updates
      const signs$ = socketEvents(
        () => socket,
        message,
        () => {
          socket.terminate();
        },
      );
      return merge(signs$, pongs(socket), pings(socket, pingEveryMs)).pipe(
        takeWhile(({ _tag }) => _tag !== 'End', true),
        mapError((error) => upgradeError(error, url)),
      );
    });
}

/** An option of `ws` 8.19 and later; earlier versions wait for 30 s. */
interface CloseOptions {
  readonly closeTimeout: number;
}

/** The time limit for the participant to end the connection after a close, in milliseconds. */
const closeTimeoutMs = 1_000;

/** The longest string in Node.js: a longer message would end the process. */
const maxStringBytes = 2 ** 29 - 24;

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
 * Returns the error of a rejected upgrade. `ws` gives the reason only in its message; only the status is taken from it,
 * because the message may quote the request. Any other error is returned unchanged.
 */
function upgradeError(error: unknown, url: string): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  const message = cause instanceof Error ? cause.message : '';
  const status = /^Unexpected server response: (\d{3})$/.exec(message)?.[1];
  if (status !== undefined) return new ConnectionError(pathOf(url), `the upgrade was rejected with status ${status}`);
  if (/^Server sent .*subprotocol$/.test(message))
    return new ConnectionError(pathOf(url), 'the response to the upgrade lacks the subprotocol');
  return error;
}
