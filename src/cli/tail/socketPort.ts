import { hasCode } from '../hasCode.js';
import type { SocketPort } from '../../http/SocketPort.js';
import { UsageError } from '../arguments/UsageError.js';

/** What makes a port of the package `ws`. */
export interface WsModule {
  readonly wsPort: () => SocketPort;
}

/**
 * The WebSockets of a tail: those of `ws`, which send the token as a header; without the package those of Node.js, which
 * `undefined` stands for. Rejects with a {@link UsageError} where there are none.
 *
 * @param load - loads what needs the package
 */
export async function socketPort(
  load: () => Promise<WsModule> = () => import('../../ws/wsPort.js'),
): Promise<SocketPort | undefined> {
  try {
    const { wsPort } = await load();
    return wsPort();
  } catch (error) {
    if (!hasCode(error, 'ERR_MODULE_NOT_FOUND')) throw error;
    if ('WebSocket' in globalThis) return undefined;
    throw new UsageError('--websocket needs the package ws with this version of Node.js: npm install ws');
  }
}
