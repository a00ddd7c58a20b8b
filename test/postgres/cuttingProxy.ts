import { tcpProxy, type TcpProxy } from '../helpers/tcpProxy.js';

/** Stands between a process and its PostgreSQL, and cuts connections at a COMMIT. */
export interface CuttingProxy extends TcpProxy {
  readonly cuts: () => number;
}

const commit = Buffer.from('COMMIT\0');

/** Cuts at every nth COMMIT: before the database gets it, or behind it, so that the answer is never heard. */
export async function cuttingProxy(url: string, when: 'before' | 'behind', every: number): Promise<CuttingProxy> {
  let seen = 0;
  let cuts = 0;
  const proxy = await tcpProxy(url, (client, server) => {
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
  return { ...proxy, cuts: () => cuts };
}
