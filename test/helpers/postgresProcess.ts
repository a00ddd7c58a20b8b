import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort, isAlive, type ProcessUser, sendSignal, startProcess, type TestServer, until } from './servers.js';

const exec = promisify(execFile);
const versions = '/usr/lib/postgresql';

/** The folder of the newest version: of Debian's packages; `undefined` for the PATH. */
const bin = existsSync(versions)
  ? readdirSync(versions)
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(versions, version, 'bin'))
      .find((folder) => existsSync(join(folder, 'initdb')))
  : undefined;
const program = (name: string): string => (bin === undefined ? name : join(bin, name));

/** The addresses of test machines: see `network.ts`. */
const machineNetworks = '198.18.0.0/15';

/** How long a server that stops waits for clients that close their connections, in milliseconds. */
const maxClosingMs = 1_000;

/** Whether PostgreSQL is installed. */
export const hasPostgres = spawnSync(program('initdb'), ['--version']).status === 0;

/** The user of the server, because PostgreSQL does not run as root. */
export function postgresUser(): ProcessUser {
  if (process.getuid?.() !== 0) return {};
  const id = (kind: string): number => Number(spawnSync('id', [kind, 'postgres'], { encoding: 'utf8' }).stdout);
  return { uid: id('-u'), gid: id('-g') };
}

/** A PostgreSQL server that can also stop responding. */
export interface PostgresServer extends TestServer {
  /** Suspends all its processes: connections stay, and nothing responds. */
  pause(): Promise<void>;
  resume(): Promise<void>;
}

/**
 * Starts a PostgreSQL server. It writes without waiting for the disk: what a killed process has written survives it, and no
 * test ends the machine. Only a user of the name `guarded` needs a password.
 *
 * @param settings - settings other than the defaults
 */
export async function postgresServer(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
  const user = postgresUser();
  const folder = await mkdtemp(join(tmpdir(), 'canton-rx-postgres-'));
  if (user.uid !== undefined && user.gid !== undefined) await chown(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  await exec('cp', ['-R', await emptyCluster(user), data], user);
  const access = join(data, 'pg_hba.conf');
  const rules = `host all guarded 127.0.0.1/32 scram-sha-256\nhost all all ${machineNetworks} trust\n`;
  await writeFile(access, `${rules}${await readFile(access, 'utf8')}`);
  const port = await freePort();
  const log = join(folder, 'log');
  const listening = { port: String(port), unix_socket_directories: folder };
  const defaults = {
    log_min_messages: 'warning',
    listen_addresses: '127.0.0.1',
    fsync: 'off',
    full_page_writes: 'off',
  };
  const options = Object.entries({ ...defaults, ...settings, ...listening });
  const command = [program('postgres'), '-D', data, ...options.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  const start = async () => {
    const server = await startProcess(command, { log, folder, user });
    await until(async () => {
      if (server.hasExited()) throw new Error(await readFile(log, 'utf8'));
      // line 8 is the state of the server
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
  /** Stops the main process first, so that it starts no children while they are listed. */
  const pause = async (): Promise<readonly number[]> => {
    sendSignal([server.pid], 'SIGSTOP');
    const all = [...(await children()), server.pid];
    sendSignal(all, 'SIGSTOP');
    return all;
  };
  const resume = async (): Promise<void> => {
    sendSignal([...(await children()), server.pid], 'SIGCONT');
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    await resume();
    sendSignal([server.pid], signal);
    await server.exited;
  };
  const restartServer = async (): Promise<void> => {
    server = await start();
  };
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    stop: async () => {
      // the connections of a pool that has ended may still be closing: if the server ended them, the pool would fail
      await Promise.race([end('SIGTERM'), wait(maxClosingMs, undefined, { ref: false })]);
      await end('SIGINT');
      await rm(folder, { recursive: true, force: true });
    },
    crash: async () => {
      const all = await pause();
      sendSignal(all, 'SIGKILL');
      await server.exited;
      await until(() => !all.some(isAlive));
    },
    pause: async () => {
      await pause();
    },
    resume,
    start: restartServer,
    restart: async () => {
      await end('SIGINT');
      await restartServer();
    },
  };
}

/** Makes an empty cluster once for all processes of a machine, because that takes seconds. Returns its folder. */
async function emptyCluster(user: ProcessUser): Promise<string> {
  const folder = join(tmpdir(), `canton-rx-cluster-${process.getuid?.() ?? 0}${bin?.replaceAll('/', '-') ?? ''}`);
  if (existsSync(folder)) return folder;
  const made = await mkdtemp(`${folder}-`);
  if (user.uid !== undefined && user.gid !== undefined) await chown(made, user.uid, user.gid);
  const data = join(made, 'data');
  const args = ['-D', data, '-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--locale=C', '--no-sync'];
  await exec(program('initdb'), args, { ...user, cwd: made });
  // another process may have been faster
  await rename(data, folder).catch(() => undefined);
  await rm(made, { recursive: true, force: true });
  return folder;
}

/** The settings of a server that waits for the disk, as in production. */
export const durable = { fsync: 'on', full_page_writes: 'on' };

/** Starts a server for a measurement, uses it, and stops it. */
export async function withPostgres<A>(
  use: (url: string) => Promise<A>,
  settings: Readonly<Record<string, string>> = {},
): Promise<A> {
  const server = await postgresServer({ ...durable, ...settings });
  // the process of the server does not keep the program alive
  const alive = setInterval(() => undefined, 60_000);
  try {
    return await use(server.url);
  } finally {
    await server.stop();
    clearInterval(alive);
  }
}
