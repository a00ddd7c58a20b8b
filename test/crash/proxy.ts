import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Stands between a process and its PostgreSQL. */
export interface Proxy {
  readonly url: string;
  /** Has all its sessions that are not in the middle of something run a statement of which the process hears nothing. */
  readonly inject: (sql: string) => Promise<number>;
  readonly close: () => void;
}

interface Session {
  /** Whether the database has answered all that it was asked. */
  isIdle: boolean;
  /** Called when the statement that is the proxy's own has been answered. */
  injected: (() => void) | undefined;
  readonly server: Socket;
}

/** Which connections lose what they hold in the database and live on: a failover that forgets locks, in small. */
export async function proxyOf(url: string): Promise<Proxy> {
  const { port, hostname } = new URL(url);
  const sessions = new Set<Session>();
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    const session: Session = { isIdle: false, injected: undefined, server };
    sessions.add(session);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true).on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        sessions.delete(session);
        other.destroy();
      });
    }
    client.on('data', (bytes) => {
      session.isIdle = false;
      server.write(bytes);
    });
    let rest = Buffer.alloc(0);
    server.on('data', (bytes) => {
      rest = Buffer.concat([rest, bytes]);
      for (;;) {
        // a type of one byte, and a length that counts itself
        const size = rest.length < 5 ? Infinity : 1 + rest.readInt32BE(1);
        if (rest.length < size) return;
        const isReady = rest[0] === 0x5a;
        if (session.injected === undefined) client.write(rest.subarray(0, size));
        rest = rest.subarray(size);
        if (!isReady) continue;
        session.isIdle = true;
        session.injected?.();
        session.injected = undefined;
      }
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = proxy.address();
  const target = new URL(url);
  target.port = String(typeof address === 'object' && address !== null ? address.port : '');
  return {
    url: target.href,
    inject: async (sql) => {
      const text = Buffer.from(`${sql}\0`);
      const head = Buffer.from([0x51, 0, 0, 0, 0]);
      head.writeInt32BE(4 + text.length, 1);
      const idle = [...sessions].filter(({ isIdle }) => isIdle);
      const answered = idle.map(
        (session) =>
          new Promise<void>((resolve) => {
            session.injected = resolve;
            session.server.write(Buffer.concat([head, text]));
          }),
      );
      await Promise.all(answered);
      return answered.length;
    },
    close: () => {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
