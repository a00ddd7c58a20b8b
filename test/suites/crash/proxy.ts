import type { Socket } from 'node:net';
import { tcpProxy, type TcpProxy } from '../../helpers/localServers.js';

/** A proxy between a process and PostgreSQL. */
export interface Proxy extends TcpProxy {
  /** Runs a statement in all idle sessions, without the knowledge of the process. */
  readonly inject: (sql: string) => Promise<number>;
}

interface Session {
  /** Whether the database has answered every query. */
  isIdle: boolean;
  /** Called when the proxy's own statement has been answered. */
  injected: (() => void) | undefined;
  readonly server: Socket;
}

/** A proxy that can make connections lose what they hold in the database, like a failover that drops locks. */
export async function postgresProxy(url: string): Promise<Proxy> {
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
        // a type of one byte, and a length that includes itself
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
