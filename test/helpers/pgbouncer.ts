import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { describe } from '@jest/globals';
import { describeWithServer } from './describeWithServer.js';
import { hasPostgres, postgresUser } from './postgresProcess.js';
import { freePort, isListening, sendSignal, startProcess, type TestServer, until } from './servers.js';

/** Debian installs it where only root looks for programs. */
const program = existsSync('/usr/sbin/pgbouncer') ? '/usr/sbin/pgbouncer' : 'pgbouncer';

/** Whether PgBouncer is installed. */
export const hasPgbouncer = spawnSync(program, ['--version']).status === 0;

/** `describe` for tests with PostgreSQL and PgBouncer. */
export const describeWithPgbouncer: typeof describe.only = describeWithServer(hasPostgres && hasPgbouncer, 'pgbouncer');

/**
 * Starts a PgBouncer in front of a PostgreSQL server.
 *
 * @param databaseUrl - the URL of the server
 * @param settings - settings of PgBouncer, such as `pool_mode`
 * @param host - the address on which it listens
 */
export async function pgbouncer(
  databaseUrl: string,
  settings: Readonly<Record<string, string | number>> = {},
  host = '127.0.0.1',
): Promise<TestServer> {
  const user = postgresUser();
  const folder = await mkdtemp(join(tmpdir(), 'canton-rx-pgbouncer-'));
  if (user.uid !== undefined && user.gid !== undefined) await chown(folder, user.uid, user.gid);
  const { port: serverPort } = new URL(databaseUrl);
  const port = await freePort();
  const all = {
    listen_addr: host,
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    ignore_startup_parameters: 'extra_float_digits',
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  const config = join(folder, 'pgbouncer.ini');
  const databases = `[databases]\n* = host=127.0.0.1 port=${serverPort} user=postgres`;
  await writeFile(config, [databases, '[pgbouncer]', ...lines, ''].join('\n'));
  const log = join(folder, 'log');
  const start = async () => {
    const server = await startProcess([program, config], { log, folder, user });
    await until(async () => {
      if (server.hasExited()) throw new Error(await readFile(log, 'utf8'));
      return host !== '127.0.0.1' || isListening(port);
    });
    // on another address, it is not known when it listens
    if (host !== '127.0.0.1') await wait(200);
    return server;
  };
  let server = await start();
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    sendSignal([server.pid], signal);
    await server.exited;
  };
  const startAgain = async (): Promise<void> => {
    server = await start();
  };
  return {
    url: `postgres://postgres@${host}:${port}/postgres`,
    stop: async () => {
      await end('SIGTERM');
      await rm(folder, { recursive: true, force: true });
    },
    crash: () => end('SIGKILL'),
    start: startAgain,
    restart: async () => {
      await end('SIGTERM');
      await startAgain();
    },
  };
}
