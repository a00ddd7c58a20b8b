/**
 * A transport by which feeds receive updates over a WebSocket as soon as the participant has them. In Node.js it needs the
 * package `ws` in addition to `canton-rx`; in browsers it uses the platform's own `WebSocket`.
 *
 * @example
 * ```ts
 * import { acsDelta, createLedger } from 'canton-rx';
 * import { webSocketTransport } from 'canton-rx/ws';
 * import { take } from 'rxjs';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575', transport: webSocketTransport() });
 * ledger
 *   .updates({ beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) })
 *   .pipe(take(3))
 *   .subscribe(({ offset }) => console.log(offset));
 * ```
 *
 * @module canton-rx/ws
 */

import type { Transport } from '../feed/LedgerFeed.js';
import { checkPositive } from '../codecs/internal/numbers.js';
import { socketTransport } from './socketTransport.js';
import type { WebSocketTransportOptions } from './SocketPort.js';
import { wsPort } from './wsPort.js';

export { platformSocketPort } from './SocketPort.js';
export type { SocketAgent, SocketPort, SocketRequest, SocketSign, WebSocketTransportOptions } from './SocketPort.js';

/**
 * Creates the transport with which the participant pushes new updates over a WebSocket, for `createLedger` or for
 * single feeds. A feed without an end uses it once it has caught up. While no socket is available, because the upgrade
 * was rejected or a socket has just ended, the feed polls. In both cases each update is emitted once and in order;
 * updates between two sockets are read over HTTP. A snapshot of the active contracts is read over a socket if the
 * participant can serve it completely in no other way.
 *
 * In Node.js the transport sends the token and the other headers of the ledger as headers, and keeps idle sockets open
 * with pings. In browsers it sends the token as the first subprotocol, and no other headers.
 *
 * @param options - the interval of pings, the maximum message size, and the agent; or a port that opens the sockets
 * @returns the transport, for the option `transport`
 * @throws TypeError for invalid options
 * @example
 * ```ts
 * import { acsDelta, createLedger } from 'canton-rx';
 * import { webSocketTransport } from 'canton-rx/ws';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575', transport: webSocketTransport() });
 * const updates$ = ledger.updates({ beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) });
 * ```
 *
 * @category Transports
 */
export function webSocketTransport(options: WebSocketTransportOptions = {}): Transport {
  const { pingEveryMs, maxMessageBytes } = options;
  checkPositive({ pingEveryMs, maxMessageBytes });
  return socketTransport(options.port ?? wsPort(options));
}
