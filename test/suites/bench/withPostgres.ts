import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

const exec = promisify(execFile);
const versions = '/usr/lib/postgresql';

/** The folder of the programs: of Debian's newest version, or that of the PATH. */
const bin = existsSync(versions)
  ? readdirSync(versions)
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(versions, version, 'bin'))
      .find((folder) => existsSync(join(folder, 'initdb')))
  : undefined;
const program = (name: string): string => (bin === undefined ? name : join(bin, name));

/**
 * Starts a PostgreSQL server with its own defaults, which flush each commit to the disk; uses it, and stops it.
 *
 * @param settings - settings other than the defaults
 */
export async function withPostgres<A>(
  use: (url: string) => Promise<A>,
  settings: Readonly<Record<string, string>> = {},
): Promise<A> {
  const id = (kind: string): number => Number(spawnSync('id', [kind, 'postgres'], { encoding: 'utf8' }).stdout);
  // PostgreSQL does not run as root
  const user = process.getuid?.() === 0 ? { uid: id('-u'), gid: id('-g') } : {};
  const folder = await mkdtemp(join(tmpdir(), 'canton-rx-bench-'));
  if (user.uid !== undefined) await chown(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  await exec(program('initdb'), ['-D', data, '-A', 'trust', '-U', 'postgres', '--no-sync'], { ...user, cwd: folder });
  const port = await freePort();
  const all = { ...settings, port, listen_addresses: '127.0.0.1', unix_socket_directories: folder };
  const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = spawn(program('postgres'), ['-D', data, ...options], { ...user, cwd: folder, stdio: 'ignore' });
  const stop = (): void => {
    server.kill('SIGINT');
  };
  process.once('exit', stop);
  try {
    while (!(await isReady(data))) {
      if (server.exitCode !== null) throw new Error('PostgreSQL did not start');
      await wait(50);
    }
    return await use(`postgres://postgres@127.0.0.1:${port}/postgres`);
  } finally {
    const exit = once(server, 'exit');
    stop();
    await exit;
    process.off('exit', stop);
    await rm(folder, { recursive: true, force: true });
  }
}

/** Line 8 of this file is the state of the server. */
const isReady = async (data: string): Promise<boolean> =>
  (await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')[7]?.trim() === 'ready';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
