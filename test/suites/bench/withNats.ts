import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';

/** Whether a NATS server is installed. */
export const hasNats = (): boolean => spawnSync('nats-server', ['--version']).status === 0;

/** Starts a NATS server with JetStream, whose streams are stored in files; uses it, and stops it. */
export async function withNats<A>(use: (url: string) => Promise<A>): Promise<A> {
  const folder = await mkdtemp(join(tmpdir(), 'canton-rx-bench-'));
  // any free port, which its log tells
  const server = spawn('nats-server', ['-a', '127.0.0.1', '-p', '-1', '-js', '-sd', folder], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const stop = (): void => {
    server.kill('SIGTERM');
  };
  process.once('exit', stop);
  try {
    return await use(`nats://127.0.0.1:${await readPort(server.stderr)}`);
  } finally {
    const exit = once(server, 'exit');
    stop();
    await exit;
    process.off('exit', stop);
    await rm(folder, { recursive: true, force: true });
  }
}

/** The port of a server, from the line of its log in which it says that it is ready for clients. */
async function readPort(log: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface(log)) {
    const [, port] = /Listening for client connections on .*:(\d+)/.exec(line) ?? [];
    if (port === undefined) continue;
    // read on, or the server would wait
    log.resume();
    return port;
  }
  throw new Error('the NATS server did not start');
}
