import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { Refusal } from '../errors/Refusal.js';

const missing =
  'The sandbox serves WebSockets with a package that could not be loaded.\r\n' +
  'Install it: npm install --save-dev ws@^8.18.0\r\n';

/** Accepts an upgrade, with the package `ws`. It is optional, and loaded when it is needed; all else works without. */
export async function handshake(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<WebSocket> {
  const { WebSocketServer } = await import('ws').catch(() => {
    throw new Refusal(501, missing);
  });
  return new Promise((resolve, reject) => {
    // pongs are left to the channel; the one subprotocol is answered whether it was offered or not
    const server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      autoPong: false,
      handleProtocols: () => false,
    });
    server.on('headers', (headers) => headers.push('Sec-WebSocket-Protocol: daml.ws.auth'));
    server.on('wsClientError', ({ message }) => {
      reject(new Refusal(400, message));
    });
    server.handleUpgrade(request, socket, head, resolve);
  });
}
