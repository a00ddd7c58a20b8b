import { defer, finalize, fromEvent, ignoreElements, map, merge, type Observable, takeWhile, tap } from 'rxjs';
import { ConnectionError } from '../errors/request.js';
import { pathOf } from '../http/HttpPort.js';
import type { SocketPort, SocketSign } from './SocketPort.js';

/**
 * The close code. A participant answers a regular close only after its stream has ended, and a stream of updates never
 * ends: the socket would stay open, and keep a Node.js process alive.
 */
const closeCode = 4000;

/**
 * Creates the port for the platform's own `WebSocket`. It is the default in browsers; in Node.js 22 and later it can
 * replace the package `ws`. It sends the token as the first subprotocol, cannot send other headers, and cannot keep an
 * idle connection open with pings.
 *
 * @returns the port, for the option `port` of `webSocketTransport`
 * @example
 * ```ts
 * import { createLedger } from 'canton-rx';
 * import { platformSocketPort, webSocketTransport } from 'canton-rx/ws';
 *
 * const transport = webSocketTransport({ port: platformSocketPort() });
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575', transport });
 * ```
 *
 * @category Transports
 */
export const platformSocketPort =
  (): SocketPort =>
  ({ url, protocols, headers, message }) => {
    const token = headers['authorization']?.replace(/^Bearer +/i, '');
    // participants look for the token only in the first subprotocol
    const offered = token === undefined ? [...protocols] : [`jwt.token.${token}`, ...protocols];
    return socketEvents(
      () => {
        if (!('WebSocket' in globalThis))
          throw new ConnectionError(pathOf(url), 'there is no WebSocket on this platform');
        return new WebSocket(url, offered);
      },
      message,
      (socket) => {
        socket.close(closeCode);
      },
    );
  };

/** The common members of the platform's `WebSocket` and that of `ws`. */
interface SocketLike {
  addEventListener(type: string, listener: (event: object) => void): void;
  removeEventListener(type: string, listener: (event: object) => void): void;
  send(data: string): void;
}

/**
 * Opens a socket and emits its signs of life; unsubscribing closes it. Does not use `rxjs/webSocket`, which lets a
 * socket continue to connect after it is unsubscribed.
 */
export const socketEvents = <S extends SocketLike>(
  open: () => S,
  message: string,
  close: (socket: S) => void,
): Observable<SocketSign> =>
  defer(() => {
    const socket = open();
    let isOpen = false;
    const open$ = fromEvent(socket, 'open').pipe(
      tap(() => {
        isOpen = true;
        socket.send(message);
      }),
      map((): SocketSign => ({ _tag: 'Open' })),
    );
    const texts$ = fromEvent<{ readonly data: unknown }>(socket, 'message').pipe(
      map(({ data }): SocketSign => {
        // it may have been an update, which must not be skipped
        if (typeof data !== 'string') throw new Error('the socket received a message that is not text');
        return { _tag: 'Text', text: data };
      }),
    );
    const checkOpen = (event: object): void => {
      // only the sockets of ws give a reason
      if (!isOpen) throw new Error('the socket was not opened', { cause: 'error' in event ? event.error : undefined });
    };
    // Node.js 22 emits no 'close' for a socket that did not open
    const failure$ = fromEvent<object>(socket, 'error').pipe(tap(checkOpen), ignoreElements());
    const end$ = fromEvent<{ readonly code: number }>(socket, 'close').pipe(
      tap((event) => {
        checkOpen(event);
      }),
      map(({ code }): SocketSign => ({ _tag: 'End', code })),
    );
    return merge(open$, texts$, failure$, end$).pipe(
      takeWhile(({ _tag }) => _tag !== 'End', true),
      finalize(() => {
        close(socket);
      }),
    );
  });
