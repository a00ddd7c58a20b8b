import type { Observable } from 'rxjs';

/** A WebSocket to open, and what to say in it. */
export interface SocketRequest {
  /** Absolute, `ws:` or `wss:`. */
  readonly url: string;
  /** What the ledger's answer to the upgrade names, and has to have been offered. */
  readonly protocols: readonly string[];
  /**
   * Names in lower case. Browsers cannot send any: there, the token of `authorization` goes in front of the protocols, as
   * `jwt.token.` and the token, and the others stay at home.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text, to be sent once the socket is open. */
  readonly message: string;
}

/** A sign of life of a socket. */
export type SocketSign = SocketOpen | SocketAlive | SocketText | SocketEnd;

/** It is open, and the message has been sent. */
export interface SocketOpen {
  /** Tells the signs apart. */
  readonly _tag: 'Open';
}

/** The other side is there: it answered a ping, for example. */
export interface SocketAlive {
  /** Tells the signs apart. */
  readonly _tag: 'Alive';
}

/** A message of the other side. */
export interface SocketText {
  /** Tells the signs apart. */
  readonly _tag: 'Text';
  /** The whole message. */
  readonly text: string;
}

/** It was open and is closed. */
export interface SocketEnd {
  /** Tells the signs apart. */
  readonly _tag: 'End';
  /** The close code, such as 1000, or 1006 where the connection was lost. */
  readonly code: number;
}

/**
 * The way to the service's WebSockets: a function from a request to an Observable that is cold, tells the socket's signs
 * of life and completes behind its end, closes it when it is unsubscribed, and errors where it was never open or brought
 * what is no text. It does not open it again.
 *
 * @example
 * ```ts
 * import { NEVER } from 'rxjs';
 * import { createLedger, type SocketPort } from 'canton-rx';
 *
 * const webSocket: SocketPort = () => NEVER; // of a test: a socket that is never open
 * createLedger({ baseUrl: 'http://ledger.example', webSocket });
 * ```
 */
export type SocketPort = (request: SocketRequest) => Observable<SocketSign>;
