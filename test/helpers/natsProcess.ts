import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, isListening, sendSignal, startProcess, type TestServer, until } from './servers.js';

/** Whether a NATS server is installed. */
export const hasNats = spawnSync('nats-server', ['--version']).status === 0;

/** The options of {@link natsServer}. */
export interface NatsServerOptions {
  /** The maximum size of a message in bytes. */
  readonly maxPayload?: number;
}

/** Starts a NATS server with JetStream, whose streams are stored in files. */
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
    const program = await startProcess(['nats-server', '-c', config], { log, folder });
    await until(async () => {
      if (program.hasExited()) throw new Error(await readFile(log, 'utf8'));
      return isListening(port);
    });
    return program;
  };
  let server = await start();
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    sendSignal([server.pid], signal);
    await server.exited;
  };
  const restartServer = async (): Promise<void> => {
    server = await start();
  };
  return {
    url: `nats://127.0.0.1:${port}`,
    stop: async () => {
      await end('SIGTERM');
      await rm(folder, { recursive: true, force: true });
    },
    crash: () => end('SIGKILL'),
    start: restartServer,
    restart: async () => {
      await end('SIGTERM');
      await restartServer();
    },
  };
}
