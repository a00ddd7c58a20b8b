import { defer, finalize, fromEvent, ignoreElements, map, merge, type Observable, takeWhile, tap } from 'rxjs';
import { ConnectionError } from '../errors/request.js';
import { pathOf } from './kyPort.js';
import type { SocketPort, SocketSign } from './SocketPort.js';

/**
 * The code to close with. A regular end is answered once the stream of the service has ended, and that of updates never
 * does: the socket would stay, and in Node.js the process with it.
 */
const leaving = 4000;

/** The port of the platform's own `WebSocket`: of browsers, and of Node.js from 22 on. */
export const webSocketPort =
  (): SocketPort =>
  ({ url, protocols, headers, message }) => {
    const token = headers['authorization']?.replace(/^Bearer +/i, '');
    // in this order: of several, participants find the token in the first alone
    const offered = token === undefined ? [...protocols] : [`jwt.token.${token}`, ...protocols];
    return socketEvents(
      () => {
        if (!('WebSocket' in globalThis))
          throw new ConnectionError(pathOf(url), 'there is no WebSocket on this platform');
        return new WebSocket(url, offered);
      },
      message,
      (socket) => {
        socket.close(leaving);
      },
    );
  };

/** What the sockets of browsers and those of `ws` have in common. */
interface SocketLike {
  addEventListener(type: string, listener: (event: object) => void): void;
  removeEventListener(type: string, listener: (event: object) => void): void;
  send(data: string): void;
}

/**
 * The signs of life of a socket that `open` makes; unsubscribing closes it. Not by `rxjs/webSocket`: a socket that is not
 * open yet would go on opening when it is unsubscribed.
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
        // it may have been an update: what comes behind it would pass it over
        if (typeof data !== 'string') throw new Error('the socket brought no text');
        return { _tag: 'Text', text: data };
      }),
    );
    const checkOpen = (event: object): void => {
      // why, only sockets of ws tell
      if (!isOpen) throw new Error('the socket was not opened', { cause: 'error' in event ? event.error : undefined });
    };
    // of one that did not open, Node.js 22 tells no close
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
