import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { freePort, until } from '../../../helpers/servers.js';

/** How a process has ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** In milliseconds. */
  readonly tookMs: number;
}

/** A process of the example. */
export interface Service {
  readonly url: string;
  /** Fulfilled when it listens, or has ended before. */
  readonly ready: () => Promise<unknown>;
  /** Fulfilled when it has updates to work on, or has ended before. */
  readonly atWork: () => Promise<unknown>;
  readonly isListening: () => boolean;
  readonly isOver: () => boolean;
  /** With what it has ended by itself. */
  readonly exitCode: () => number | null;
  readonly kill: (signal: NodeJS.Signals) => Promise<Ending>;
  readonly logs: () => string;
}

const listening = /listening at/;

/** Starts the example as `npm start` does, in the folder where it was installed and built. */
export async function service(folder: string, settings: Readonly<Record<string, string>>): Promise<Service> {
  const port = settings['PORT'] ?? String(await freePort());
  const child = spawn(process.execPath, ['dist/main.js'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOST: '127.0.0.1', PORT: port, LOG_LEVEL: 'debug', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: string[] = [];
  const over = once(child, 'close');
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => chunks.push(text));
  const logs = (): string => chunks.join('');
  const told = (words: RegExp): Promise<unknown> =>
    Promise.race([over, until(() => words.test(logs()) || child.exitCode !== null || child.signalCode !== null)]);
  return {
    url: `http://127.0.0.1:${port}`,
    ready: () => told(listening),
    atWork: () => told(/"first":.*PageReceived/),
    isListening: () => logs().includes('listening at'),
    isOver: () => child.exitCode !== null || child.signalCode !== null,
    exitCode: () => child.exitCode,
    kill: async (signal) => {
      const begunAt = performance.now();
      child.kill(signal);
      await over;
      return { code: child.exitCode, signal: child.signalCode, tookMs: performance.now() - begunAt };
    },
    logs,
  };
}
