import { hasCode } from '../../file/durable.js';
import type { LedgerOptions } from '../../ledger/LedgerOptions.js';
import { UsageError } from '../arguments.js';

type Transport = NonNullable<LedgerOptions['transport']>;

/** An entry of `canton-rx/ws`. */
interface WsModule {
  readonly webSocketTransport: () => Transport;
}

/**
 * Loads the WebSockets of a tail: those of the package `ws`, which send the token as a header. Without the package, loads
 * those of Node.js, or rejects with a {@link UsageError} if Node.js has none.
 *
 * @param load - imports the module that requires the package
 */
export async function loadTransport(
  load: () => Promise<WsModule> = () => import('../../ws/index.js'),
): Promise<Transport> {
  const { webSocketTransport } = await load().catch((error: unknown) => {
    if (!hasCode(error, 'ERR_MODULE_NOT_FOUND')) throw error;
    if ('WebSocket' in globalThis) return import('../../ws/browser.js');
    throw new UsageError('--websocket requires the package ws with this version of Node.js: npm install ws');
  });
  return webSocketTransport();
}
