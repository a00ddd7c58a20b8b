import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from '@jest/globals';
import { interval, Subscription } from 'rxjs';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';
import { until } from '../helpers/time.js';
import { type CliRun, runCli } from './runCli.js';

/** A sandbox and an empty folder for each test. */
export interface CliWorld {
  readonly sandbox: Sandbox;
  readonly folder: string;
  /** Replaces the sandbox. */
  readonly restart: (options?: SandboxOptions, updates?: number) => Promise<void>;
  /** Generates updates until the test ends or {@link stopTraffic} is called. */
  readonly startTraffic: () => void;
  readonly stopTraffic: () => void;
  /** Runs a command line in this process, with the sandbox as its `--ledger`. */
  readonly start: (line: readonly [string, ...string[]], options?: Parameters<typeof runCli>[1]) => CliRun;
  /** Runs `canton-rx tail` on the sandbox to its end. */
  readonly tail: (...options: readonly string[]) => Promise<Omit<CliRun, 'code'> & { readonly code: number }>;
  /** Waits until a request for updates has no response yet. */
  readonly pending: () => Promise<void>;
}

/** Starts a sandbox with 300 updates for each test. Call it once, at the top of a test file. */
export function cliWorld(): CliWorld {
  let sandbox: Sandbox;
  let folder: string;
  let traffic: Subscription;
  const start = async (options: SandboxOptions, updates: number): Promise<void> => {
    sandbox = await startSandbox(options);
    sandbox.generate(updates);
  };
  beforeEach(async () => {
    traffic = new Subscription();
    folder = mkdtempSync(join(tmpdir(), 'canton-rx-'));
    await start({}, 300);
  });
  afterEach(async () => {
    traffic.unsubscribe();
    await sandbox.close();
    rmSync(folder, { recursive: true });
  });
  const startCli: CliWorld['start'] = ([command, ...options], io) =>
    runCli([command, '--ledger', sandbox.url, ...options], io);
  const tail: CliWorld['tail'] = async (...options) => {
    const run = startCli(['tail', ...options]);
    return { ...run, code: await run.code };
  };
  return {
    get sandbox() {
      return sandbox;
    },
    get folder() {
      return folder;
    },
    restart: async (options = {}, updates = 300) => {
      await sandbox.close();
      await start(options, updates);
    },
    startTraffic: () => {
      traffic.add(interval(20).subscribe(() => sandbox.generate(1)));
    },
    stopTraffic: () => {
      traffic.unsubscribe();
    },
    start: startCli,
    tail,
    pending: () =>
      until(() => sandbox.requests.some(({ path, status }) => path.includes('/updates') && status === undefined)),
  };
}
