import type { SocketPort } from './SocketPort.js';

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
