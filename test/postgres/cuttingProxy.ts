import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Stands between a process and its PostgreSQL, and cuts connections at a COMMIT. */
export interface CuttingProxy {
  readonly url: string;
  readonly cuts: () => number;
  readonly close: () => void;
}

const commit = Buffer.from('COMMIT\0');

/** Cuts at every nth COMMIT: before the database gets it, or behind it, so that the answer is never heard. */
export async function cuttingProxy(url: string, when: 'before' | 'behind', every: number): Promise<CuttingProxy> {
  const { port, hostname } = new URL(url);
  const sockets = new Set<Socket>();
  let seen = 0;
  let cuts = 0;
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true).on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on('data', (bytes) => {
      const isCut = bytes.includes(commit) && (seen += 1) % every === 0;
      if (!isCut) {
        server.write(bytes);
        return;
      }
      cuts += 1;
      if (when === 'before') client.destroy();
      else
        server.write(bytes, () => {
          client.destroy();
        });
    });
    server.on('data', (bytes) => {
      if (!client.destroyed) client.write(bytes);
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = proxy.address();
  const target = new URL(url);
  target.port = String(typeof address === 'object' && address !== null ? address.port : '');
  return {
    url: target.href,
    cuts: () => cuts,
    close: () => {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
