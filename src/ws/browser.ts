/**
 * The entry of `canton-rx/ws` for browsers, with the same names and types as the one for Node.js, which documents them.
 * It does not need the package `ws`.
 */

import type { Transport } from '../feed/LedgerFeed.js';
import { checkPositive } from '../codecs/internal/numbers.js';
import { platformSocketPort, type WebSocketTransportOptions } from './SocketPort.js';
import { socketTransport } from './socketTransport.js';

export { platformSocketPort };
export type { SocketAgent, SocketPort, SocketRequest, SocketSign, WebSocketTransportOptions } from './SocketPort.js';

/** Creates the WebSocket transport based on the platform's own `WebSocket`. */
export function webSocketTransport(options: WebSocketTransportOptions = {}): Transport {
  const { pingEveryMs, maxMessageBytes } = options;
  checkPositive({ pingEveryMs, maxMessageBytes });
  return socketTransport(options.port ?? platformSocketPort());
}
