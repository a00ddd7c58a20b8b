import type { Socket } from 'node:net';
import { tcpProxy, type TcpProxy } from '../../helpers/tcpProxy.js';

/** Stands between a process and its PostgreSQL. */
export interface Proxy extends TcpProxy {
  /** Has all its sessions that are not in the middle of something run a statement of which the process hears nothing. */
  readonly inject: (sql: string) => Promise<number>;
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
  const sessions = new Set<Session>();
  const proxy = await tcpProxy(url, (client, server) => {
    const session: Session = { isIdle: false, injected: undefined, server };
    sessions.add(session);
    client.on('close', () => sessions.delete(session));
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
  return {
    ...proxy,
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
  };
}
