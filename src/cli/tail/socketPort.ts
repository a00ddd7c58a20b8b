import { hasCode } from '../../file/durable.js';
import type { SocketPort } from '../../http/SocketPort.js';
import { UsageError } from '../arguments.js';

/** Creates a port of the package `ws`. */
interface WsModule {
  readonly wsPort: () => SocketPort;
}

/**
 * Loads the WebSockets of a tail: those of `ws`, which send the token as a header. Without the package resolves with
 * `undefined` for those of Node.js, and rejects with a {@link UsageError} if Node.js has none.
 *
 * @param load - imports the module that requires the package
 */
export async function loadSocketPort(
  load: () => Promise<WsModule> = () => import('../../ws/wsPort.js'),
): Promise<SocketPort | undefined> {
  try {
    const { wsPort } = await load();
    return wsPort();
  } catch (error) {
    if (!hasCode(error, 'ERR_MODULE_NOT_FOUND')) throw error;
    if ('WebSocket' in globalThis) return undefined;
    throw new UsageError('--websocket requires the package ws with this version of Node.js: npm install ws');
  }
}
