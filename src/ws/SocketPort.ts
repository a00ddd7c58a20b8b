import type { Observable } from 'rxjs';

/**
 * A WebSocket to open, and the message to send in it.
 *
 * @category Transports
 */
export interface SocketRequest {
  /** The absolute URL, with `ws:` or `wss:`. */
  readonly url: string;
  /** The subprotocols to offer. The ledger's response to the upgrade names one of them. */
  readonly protocols: readonly string[];
  /**
   * Names are in lower case. Browsers cannot send headers: there, the token of `authorization` is offered as the first
   * subprotocol, `jwt.token.` and the token, and the other headers are not sent.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text to send when the socket is open. */
  readonly message: string;
}

/**
 * A sign of life of a socket.
 *
 * @category Transports
 */
export type SocketSign = SocketOpen | SocketAlive | SocketText | SocketEnd;

/**
 * The socket is open, and the message has been sent.
 *
 * @category Transports
 */
export interface SocketOpen {
  /** The discriminant. */
  readonly _tag: 'Open';
}

/**
 * The service is alive: it answered a ping, for example.
 *
 * @category Transports
 */
export interface SocketAlive {
  /** The discriminant. */
  readonly _tag: 'Alive';
}

/**
 * A message of the service.
 *
 * @category Transports
 */
export interface SocketText {
  /** The discriminant. */
  readonly _tag: 'Text';
  /** The whole message. */
  readonly text: string;
}

/**
 * The socket was open and is closed.
 *
 * @category Transports
 */
export interface SocketEnd {
  /** The discriminant. */
  readonly _tag: 'End';
  /** The close code, such as 1000, or 1006 where the connection was lost. */
  readonly code: number;
}

/**
 * Opens WebSockets to the service: a function from a request to a cold Observable that emits the socket's signs of life
 * and completes after its end. It closes the socket when it is unsubscribed, and errors if the socket did not open or
 * received anything but text. It does not reconnect.
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
