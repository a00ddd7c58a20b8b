import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../../../helpers/servers.js';
import { until } from '../../../helpers/time.js';
import { randomFrom } from '../../campaign/runs.js';
import type { World } from '../../crash/world.js';

/** How a process ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** In milliseconds. */
  readonly tookMs: number;
}

/** A process of the example. */
export interface Service {
  readonly url: string;
  /** The address of `/livez`, `/readyz`, `/status` and `/metrics`. */
  readonly statusUrl: string;
  /** Resolves when it listens or has ended. */
  readonly ready: () => Promise<unknown>;
  /** Resolves when it has updates to process or has ended. */
  readonly atWork: () => Promise<unknown>;
  readonly isListening: () => boolean;
  readonly isOver: () => boolean;
  /** The exit code, unless a signal ended it. */
  readonly exitCode: () => number | null;
  readonly kill: (signal: NodeJS.Signals) => Promise<Ending>;
  readonly logs: () => string;
}

const listening = 'the service listens on';

/** Starts the example as `npm start` does, in the folder where it was installed and built. */
export async function startService(folder: string, settings: Readonly<Record<string, string>>): Promise<Service> {
  const port = settings['PORT'] ?? String(await freePort());
  const statusPort = String(await freePort());
  const child = spawn(process.execPath, ['dist/main.js'], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: port,
      STATUS_PORT: statusPort,
      LOG_LEVEL: 'debug',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: string[] = [];
  const over = once(child, 'close');
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => chunks.push(text));
  const logs = (): string => chunks.join('');
  const logged = (words: RegExp): Promise<unknown> =>
    Promise.race([over, until(() => words.test(logs()) || child.exitCode !== null || child.signalCode !== null)]);
  return {
    url: `http://127.0.0.1:${port}`,
    statusUrl: `http://127.0.0.1:${statusPort}`,
    ready: () => logged(new RegExp(listening)),
    atWork: () => logged(/"first":.*PageReceived/),
    isListening: () => logs().includes(listening),
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

const { CANTON_RX_NEST_SEED: seed, CANTON_RX_NEST_KILLS: kills } = process.env;

/** How often the service is ended, over how many updates, and the seed. Environment variables override them. */
export function killParameters(defaults: { kills: number; updates: number }) {
  const chosen = {
    kills: kills === undefined ? defaults.kills : Number(kills),
    updates: defaults.updates,
    seed: seed === undefined ? Math.trunc(Math.random() * 2 ** 31) : Number(seed),
  };
  process.stdout.write(`nest: ${chosen.kills} ends over ${chosen.updates} updates, seed ${chosen.seed}\n`);
  // two seconds for each end alone on a machine, five times as long beside other suites; then two waits of a minute
  return { ...chosen, random: randomFrom(chosen.seed), timeoutMs: 120_000 + chosen.kills * 10_000 };
}

/** How services ended on SIGTERM. */
export interface Kills {
  readonly kills: number;
  readonly terms: readonly (Ending & { readonly wasListening: boolean; readonly logs: string })[];
}

/** The longest life of a service, in milliseconds: from its start, from when it listens, and from when it has updates. */
const longestMs = { early: 600, late: 400, working: 60 };

/** A fourth of the moments is during the start, but not the first; half of them are during the work, the others later. */
async function waitForKill({ ready, atWork }: Service, random: () => number, isFirst: boolean): Promise<void> {
  const [kind, when] = [random(), random()];
  if (kind < 0.25 && !isFirst) return wait(when * longestMs.early);
  if (kind < 0.75) {
    await atWork();
    return wait(when * longestMs.working);
  }
  await ready();
  return wait(when * longestMs.late);
}

/**
 * Ends the service repeatedly at random moments, with SIGTERM and SIGKILL in turn. Each time the ledger grows, and the next
 * service starts at once. The last one is left running.
 */
export async function runWithKills(
  start: () => Promise<Service>,
  { grow }: World,
  { kills, random }: { kills: number; random: () => number },
): Promise<Kills & { readonly last: Service }> {
  const terms: Kills['terms'][number][] = [];
  grow(0.25);
  let service = await start();
  for (let done = 0; done < kills; done += 1) {
    await waitForKill(service, random, done === 0);
    const wasListening = service.isListening();
    if (service.isOver()) throw new Error(`it ended by itself: ${service.logs().slice(-2_000)}`);
    const ending = await service.kill(done % 2 === 0 ? 'SIGTERM' : 'SIGKILL');
    if (done % 2 === 0) terms.push({ ...ending, wasListening, logs: service.logs().slice(-2_000) });
    grow(0.75 / kills);
    service = await start();
  }
  grow(1);
  return { kills, terms, last: service };
}
