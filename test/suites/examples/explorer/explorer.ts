import { execFile } from 'node:child_process';
import type { Server } from 'node:http';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import type { Sandbox } from '../../../../src/sandbox/index.js';

const root = join(import.meta.dirname, '..', '..', '..', '..');
const example = join(root, 'docs', 'examples', 'angular');

interface Served {
  readonly server: Server;
  readonly url: string;
}

/** What the explorer is told when it starts. */
export interface ExplorerSettings {
  readonly baseUrl?: string;
  readonly sandbox?: boolean;
  readonly capacity?: number;
}

interface ServeOptions {
  readonly folder: string;
  readonly settings: ExplorerSettings;
  readonly control: unknown;
}

interface Traffic {
  readonly rate: () => number;
  readonly setRate: (next: number) => void;
}

/** Installs the example next to the packed library and builds it; what that printed. */
export async function installExplorer(): Promise<{ readonly folder: string; readonly printed: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'canton-rx-explorer-'));
  const install = join(root, 'docs', 'examples', 'install.mjs');
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [install, 'angular', folder], { cwd: root });
  return { folder, printed: stdout + stderr };
}

/** Serves a built explorer as the example's own `npm start` does, for a sandbox of the test. */
export async function serveExplorer(
  folder: string,
  sandbox: Sandbox,
  settings: ExplorerSettings = { baseUrl: sandbox.url, sandbox: true },
): Promise<Served> {
  const { serveExplorer: serve } = (await import(join(example, 'server', 'serve-explorer.mjs'))) as {
    serveExplorer: (options: ServeOptions) => Promise<Served>;
  };
  const { controlOf } = (await import(join(example, 'server', 'control-of.mjs'))) as {
    controlOf: (sandbox: Sandbox, traffic: Traffic) => unknown;
  };
  let rate = 5;
  // none comes that a test has not asked for
  const traffic = { rate: () => rate, setRate: (next: number) => void (rate = next) };
  return serve({
    folder: join(folder, 'dist'),
    settings,
    control: controlOf(sandbox, traffic),
  });
}
