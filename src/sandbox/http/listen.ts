import { once } from 'node:events';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { serve } from './serve.js';
import type { Service } from './Service.js';

interface Listening {
  readonly url: string;
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** Opens the service on the loopback interface. */
export async function listen(port: number, service: Service): Promise<Listening> {
  const server = createServer((request, response) => void serve(request, response, service));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the sandbox has no TCP address');
  let closed: Promise<void> | undefined;
  const close = () => {
    const ended = promisify(server.close.bind(server))();
    for (const record of service.log) record.settle();
    server.closeAllConnections();
    return ended;
  };
  const { port: bound } = address;
  return { url: `http://127.0.0.1:${bound}`, port: bound, close: () => (closed ??= close()) };
}
