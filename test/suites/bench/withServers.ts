import { natsServer } from '../../helpers/natsProcess.js';
import { durable, postgresServer } from '../../helpers/postgresProcess.js';
import type { TestServer } from '../../helpers/servers.js';

const using = async <A>(starting: Promise<TestServer>, use: (url: string) => Promise<A>): Promise<A> => {
  const server = await starting;
  try {
    return await use(server.url);
  } finally {
    await server.stop();
  }
};

/** Starts a PostgreSQL server that flushes each commit to the disk; uses it, and stops it. */
export const withPostgres = <A>(use: (url: string) => Promise<A>): Promise<A> => using(postgresServer(durable), use);

/** Starts a NATS server with JetStream, whose streams are stored in files; uses it, and stops it. */
export const withNats = <A>(use: (url: string) => Promise<A>): Promise<A> => using(natsServer(), use);
