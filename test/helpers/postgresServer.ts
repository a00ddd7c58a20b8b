import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import type { describe } from '@jest/globals';
import { describeWithServer, freePort, isAlive, running, signal, until, type As, type TestServer } from './servers.js';

const exec = promisify(execFile);
const versions = '/usr/lib/postgresql';

/** Where the newest version's programs are: Debian's, or those on the path. */
const bin = existsSync(versions)
  ? readdirSync(versions)
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(versions, version, 'bin'))
      .find((folder) => existsSync(join(folder, 'initdb')))
  : undefined;
const program = (name: string): string => (bin === undefined ? name : join(bin, name));

/** Whether there is a PostgreSQL on this machine. */
export const hasPostgres = spawnSync(program('initdb'), ['--version']).status === 0;

/** Tests with a PostgreSQL. */
export const describeWithPostgres: typeof describe.only = describeWithServer(hasPostgres, 'postgresql');

/** PostgreSQL does not run as root. */
function underWhom(): As {
  if (process.getuid?.() !== 0) return {};
  const id = (kind: string): number => Number(spawnSync('id', [kind, 'postgres'], { encoding: 'utf8' }).stdout);
  return { uid: id('-u'), gid: id('-g') };
}

/** A PostgreSQL that can also stop answering. */
export interface PostgresServer extends TestServer {
  /** Stops all of it, so that connections stay and nothing is answered. */
  pause(): Promise<void>;
  resume(): Promise<void>;
}

const settings = { listen_addresses: '127.0.0.1', max_connections: '100', log_min_messages: 'warning' };

/**
 * Starts a PostgreSQL. It does flush to the disk: that a commit which is acknowledged survives a crash of the server is
 * what some tests are about.
 */
export async function postgresServer(): Promise<PostgresServer> {
  const as = underWhom();
  const folder = await mkdtemp(join(tmpdir(), 'canton-rx-postgres-'));
  if (as.uid !== undefined && as.gid !== undefined) await chown(folder, as.uid, as.gid);
  const data = join(folder, 'data');
  await exec(
    program('initdb'),
    ['-D', data, '-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--locale=C', '--no-sync'],
    {
      ...as,
      cwd: folder,
    },
  );
  const port = await freePort();
  const log = join(folder, 'log');
  const options = Object.entries({ ...settings, port: String(port), unix_socket_directories: folder });
  const command = [program('postgres'), '-D', data, ...options.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  const start = async () => {
    const server = await running(command, { log, folder, as });
    await until(async () => {
      if (server.isOver()) throw new Error(await readFile(log, 'utf8'));
      // the last line is its state
      const lines = (await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
      return Number(lines[0]) === server.pid && lines[7]?.trim() === 'ready';
    });
    return server;
  };
  let server = await start();
  const children = async (): Promise<readonly number[]> => {
    const { stdout } = await exec('pgrep', ['-P', String(server.pid)]).catch(() => ({ stdout: '' }));
    return stdout.split('\n').filter(Boolean).map(Number);
  };
  /** The server first, so that it starts no other process while they are counted. */
  const pause = async (): Promise<readonly number[]> => {
    signal([server.pid], 'SIGSTOP');
    const all = [...(await children()), server.pid];
    signal(all, 'SIGSTOP');
    return all;
  };
  const resume = async (): Promise<void> => {
    signal([...(await children()), server.pid], 'SIGCONT');
  };
  const end = async (how: NodeJS.Signals): Promise<void> => {
    await resume();
    signal([server.pid], how);
    await server.over;
  };
  const again = async (): Promise<void> => {
    server = await start();
  };
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    stop: async () => {
      await end('SIGINT');
      await rm(folder, { recursive: true, force: true });
    },
    crash: async () => {
      const all = await pause();
      signal(all, 'SIGKILL');
      await server.over;
      await until(() => !all.some(isAlive));
    },
    pause: async () => {
      await pause();
    },
    resume,
    start: again,
    restart: async () => {
      await end('SIGINT');
      await again();
    },
  };
}
