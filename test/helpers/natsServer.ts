import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { describe } from '@jest/globals';
import { describeWithServer, freePort, isListening, running, signal, until, type TestServer } from './servers.js';

/** Whether there is a NATS server on this machine. */
export const hasNats = spawnSync('nats-server', ['--version']).status === 0;

/** Tests with a NATS server. */
export const describeWithNats: typeof describe.only = describeWithServer(hasNats, 'nats-server');

/** A NATS server with JetStream. */
export interface NatsServerOptions {
  /** The most bytes of a message. */
  readonly maxPayload?: number;
}

/** Starts a NATS server with JetStream, which keeps its streams in files. */
export async function natsServer({ maxPayload = 1_048_576 }: NatsServerOptions = {}): Promise<TestServer> {
  const folder = await mkdtemp(join(tmpdir(), 'canton-rx-nats-'));
  const port = await freePort();
  const log = join(folder, 'log');
  const config = join(folder, 'config');
  await writeFile(
    config,
    `listen: "127.0.0.1:${port}"\nmax_payload: ${maxPayload}\njetstream { store_dir: "${join(folder, 'data')}" }\n`,
  );
  const start = async () => {
    const program = await running(['nats-server', '-c', config], { log, folder });
    await until(async () => {
      if (program.isOver()) throw new Error(await readFile(log, 'utf8'));
      return isListening(port);
    });
    return program;
  };
  let server = await start();
  const end = async (how: NodeJS.Signals): Promise<void> => {
    signal([server.pid], how);
    await server.over;
  };
  const again = async (): Promise<void> => {
    server = await start();
  };
  return {
    url: `nats://127.0.0.1:${port}`,
    stop: async () => {
      await end('SIGTERM');
      await rm(folder, { recursive: true, force: true });
    },
    crash: () => end('SIGKILL'),
    start: again,
    restart: async () => {
      await end('SIGTERM');
      await again();
    },
  };
}
