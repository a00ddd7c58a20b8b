import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Stands between a client and a server; what goes through is the test's to pass on. */
export interface TcpProxy {
  /** The server's address, with the proxy in front of it. */
  readonly url: string;
  readonly close: () => void;
}

/** Starts a proxy on this machine; `meet` is called with the two ends of each connection, which end together. */
export async function tcpProxy(url: string, meet: (client: Socket, server: Socket) => void): Promise<TcpProxy> {
  const { port, hostname } = new URL(url);
  const sockets = new Set<Socket>();
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
    meet(client, server);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = proxy.address();
  const target = new URL(url);
  target.port = String(typeof address === 'object' && address !== null ? address.port : '');
  return {
    url: target.href,
    close: () => {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
