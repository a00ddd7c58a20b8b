import { afterAll, beforeAll } from '@jest/globals';
import { Pool } from 'pg';
import { type PostgresServer, postgresServer } from '../../helpers/postgresServer.js';
import { bundlePrograms, type Programs } from './Child.js';

/** A database server, and the programs that are killed while they use it. */
interface Database {
  readonly server: PostgresServer;
  readonly pool: Pool;
  readonly programs: Programs;
}

/** Starts a database server and bundles programs for the tests of a `describe`. */
export function withDatabase(...names: readonly string[]): Readonly<Database> {
  const database: Partial<{ -readonly [K in keyof Database]: Database[K] }> = {};
  beforeAll(async () => {
    database.programs = await bundlePrograms(...names);
    database.server = await postgresServer();
    database.pool = new Pool({ connectionString: database.server.url });
    database.pool.on('error', () => undefined);
  });
  afterAll(async () => {
    await database.programs?.remove();
    await database.pool?.end();
    await database.server?.stop();
  });
  // complete before the first test
  return database as Database;
}
