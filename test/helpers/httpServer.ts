import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server on loopback that answers as the test says. */
export interface HttpServer {
  readonly url: string;
  /** Requests whose connection was closed before they were answered. */
  readonly aborted: Promise<void>;
  close(): Promise<void>;
}

const isAddress = (address: string | AddressInfo | null): address is AddressInfo =>
  typeof address === 'object' && address !== null;

export async function httpServer(
  handle: (request: IncomingMessage, response: ServerResponse, body: string) => void,
): Promise<HttpServer> {
  let aborted: () => void = () => undefined;
  const abortedOnce = new Promise<void>((resolve) => {
    aborted = resolve;
  });
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    response.on('close', () => {
      if (!response.writableEnded) aborted();
    });
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      handle(request, response, Buffer.concat(chunks).toString());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${isAddress(address) ? address.port : 0}`,
    aborted: abortedOnce,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
