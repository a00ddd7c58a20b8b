import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { promisify } from 'node:util';
import { isUpgrade } from '../sockets/isUpgrade.js';
import { putBack } from '../sockets/putBack.js';
import { serveUpgrade } from '../sockets/serveUpgrade.js';
import { addressOf } from './addressOf.js';
import { serve } from './serve.js';
import type { Service } from './Service.js';
import { streamAt } from './streamAt.js';

interface Listening {
  readonly url: string;
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** Opens the service on the loopback interface. */
export async function listen(port: number, service: Service): Promise<Listening> {
  const server = createServer((request, response) => void serve(request, response, service));
  // the server forgets a connection that asks for an upgrade
  const upgraded = new Set<Socket>();
  server.on('upgrade', (request, _socket, head) => {
    const { socket } = request;
    const stream = isUpgrade(request) ? streamAt(addressOf(request).path, service.participant.settings) : undefined;
    if (stream === undefined) {
      putBack(server, request, head);
      return;
    }
    upgraded.add(socket);
    socket.once('close', () => upgraded.delete(socket));
    void serveUpgrade(request, head, stream, service);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the sandbox has no TCP address');
  let closed: Promise<void> | undefined;
  const close = () => {
    const ended = promisify(server.close.bind(server))();
    for (const record of service.log) record.settle();
    server.closeAllConnections();
    for (const socket of upgraded) socket.destroy();
    return ended;
  };
  const { port: bound } = address;
  return { url: `http://127.0.0.1:${bound}`, port: bound, close: () => (closed ??= close()) };
}
