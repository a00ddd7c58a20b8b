import { defer, finalize, fromEvent, ignoreElements, map, merge, type Observable, takeWhile, tap } from 'rxjs';
import { ConnectionError } from '../errors/request.js';
import { pathOf } from '../http/HttpPort.js';

/**
 * A WebSocket to open, and the message to send over it.
 *
 * @category Transports
 */
export interface SocketRequest {
  /** The absolute URL, with `ws:` or `wss:`. */
  readonly url: string;
  /** The subprotocols to offer. The response to the upgrade names one of them. */
  readonly protocols: readonly string[];
  /**
   * The headers, with names in lower case. Browsers cannot send headers: there, the token of `authorization` is offered
   * as the first subprotocol, `jwt.token.` followed by the token, and other headers are not sent.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text to send when the socket is open. */
  readonly message: string;
}

/**
 * A sign of life of a socket:
 *
 * - `Open`: it is open, and the message has been sent.
 * - `Alive`: the participant is alive: for example, it answered a ping.
 * - `Text`: a complete message from the participant.
 * - `End`: it was open and has closed. The `code` is the close code, such as 1000, or 1006 if the connection was lost.
 *
 * @category Transports
 */
export type SocketSign =
  | {
      /** The discriminant. */
      readonly _tag: 'Open' | 'Alive';
    }
  | {
      /** The discriminant. */
      readonly _tag: 'Text';
      /** The message. */
      readonly text: string;
    }
  | {
      /** The discriminant. */
      readonly _tag: 'End';
      /** The close code. */
      readonly code: number;
    };

/**
 * Opens WebSockets to the participant: a function from a request to a cold Observable that emits the signs of life of a
 * socket and completes after the socket has ended. Unsubscribing closes the socket. Errors if the socket did not open
 * or received anything but text. Does not reconnect.
 *
 * @example
 * ```ts
 * import { NEVER } from 'rxjs';
 * import { createLedger } from 'canton-rx';
 * import { type SocketPort, webSocketTransport } from 'canton-rx/ws';
 *
 * const port: SocketPort = () => NEVER; // for a test: a socket that never opens
 * createLedger({ baseUrl: 'http://ledger.example', transport: webSocketTransport({ port }) });
 * ```
 *
 * @category Transports
 */
export type SocketPort = (request: SocketRequest) => Observable<SocketSign>;

/**
 * Options of a WebSocket transport. Browsers open, check and close sockets themselves: there, only `port` has an
 * effect.
 *
 * @category Transports
 */
export interface WebSocketTransportOptions {
  /**
   * The interval of pings, in milliseconds. A participant sends no pings, and closes a connection on which it has
   * received nothing for 60 000 ms. A feed abandons a socket on which nothing, not even a pong, has arrived for 30 000
   * ms. Has no effect in browsers, which cannot send pings, or with `port`.
   *
   * @defaultValue 12000
   */
  readonly pingEveryMs?: number | undefined;
  /**
   * The maximum size of a message, in bytes. A larger message ends the socket, and the feed reads it over HTTP. Has no
   * effect in browsers or with `port`.
   *
   * @defaultValue 33554432, 32 MiB
   */
  readonly maxMessageBytes?: number | undefined;
  /**
   * The agent that opens the connections instead of Node's own agent, for example for a proxy or for other
   * certificates. Has no effect in browsers or with `port`.
   */
  readonly agent?: SocketAgent | undefined;
  /** Opens the sockets instead of the default: `platformSocketPort()`, a test double, or another implementation. */
  readonly port?: SocketPort | undefined;
}

/**
 * An `Agent` of `node:http` or `node:https`, reduced to common members so that browsers need no types of Node.js.
 *
 * @category Transports
 */
export interface SocketAgent {
  /** The maximum number of connections to one server. */
  readonly maxSockets: number;
  /** Closes the connections. */
  destroy(): void;
}

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
