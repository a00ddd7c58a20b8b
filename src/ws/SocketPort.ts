import type { Observable } from 'rxjs';

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
 * A sign of life from a socket.
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
 * The participant is alive: for example, it answered a ping.
 *
 * @category Transports
 */
export interface SocketAlive {
  /** The discriminant. */
  readonly _tag: 'Alive';
}

/**
 * A message from the participant.
 *
 * @category Transports
 */
export interface SocketText {
  /** The discriminant. */
  readonly _tag: 'Text';
  /** The complete message. */
  readonly text: string;
}

/**
 * The socket was open and has closed.
 *
 * @category Transports
 */
export interface SocketEnd {
  /** The discriminant. */
  readonly _tag: 'End';
  /** The close code, such as 1000, or 1006 if the connection was lost. */
  readonly code: number;
}

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
