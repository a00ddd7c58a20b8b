import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { build, type Plugin } from 'esbuild';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.js';
import { itInChromium, runInChromium } from '../../helpers/browser.js';
import { connectProxy } from '../../helpers/localServers.js';
import { bundled } from '../package/bundled.js';
import { lockedVersion, project, root, type Project } from '../package/project.js';
import type { Outcomes, World } from './programs/capabilities.js';
import { describeServers, serverPackages } from './servers.js';

/** The packages of the runtimes, which are installed for this suite alone, because they are large. */
const node = `npm:node-${process.platform}-${process.arch}`;
const packages = [`node20@${node}@20.19.0`, `node22@${node}@22.23.3`, `node24@${node}@24.21.0`];
packages.push(
  `node26@${node}@26.10.0`,
  'bun@1.4.5',
  'deno@2.9.6',
  'workerd@1.20260730.1',
  'rxjs9@npm:rxjs@9.0.0-beta.0',
  ...serverPackages,
);

let sandbox: Sandbox;
let world: World;
let app: Project;
beforeAll(async () => {
  sandbox = await startSandbox({ cors: true });
  sandbox.generate(300);
  world = { url: sandbox.url, party: sandbox.hostedParty('alice') };
  app = await project();
  const optional = await Promise.all(['undici', 'ws'].map(lockedVersion));
  await app.run('npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', ...optional, ...packages);
  await Promise.all(['server', 'worker', 'page', 'platformPage', 'rxjs9', 'users'].map(compile));
}, 300_000);
afterAll(async () => {
  await sandbox.close();
  await app.remove();
}, 60_000);

/** Imports the packed library in place of its sources, as users do. */
const packed: Plugin = {
  name: 'packed',
  setup: (context) => {
    context.onResolve({ filter: /\/src\/.*index\.js$/ }, ({ path }) => ({
      path: path.replace(/.*\/src\//, 'canton-rx/').replace(/\/index\.js$/, ''),
      external: true,
    }));
  },
};

/** Compiles a program into the project, in which it finds its packages. */
const compile = (program: string): Promise<unknown> =>
  build({
    entryPoints: [join(import.meta.dirname, 'programs', `${program}.ts`)],
    outfile: join(app.folder, `${program}.mjs`),
    plugins: [packed],
    packages: 'external',
    bundle: true,
    format: 'esm',
    target: 'es2022',
  });

/** What the documentation says of a runtime, as the outcomes would show it. */
async function documented(runtime: string): Promise<Readonly<Record<string, boolean>>> {
  const lines = (await readFile(join(root, 'docs', 'versions.md'), 'utf8')).split('\n');
  const cellsOf = (start: string): readonly string[] =>
    (lines.find((line) => line.startsWith(`| ${start} `)) ?? '')
      .split('|')
      .map((cell) => cell.replaceAll('`', '').trim());
  const names = cellsOf('Runtime');
  const cells = cellsOf(runtime);
  return Object.fromEntries(
    names.flatMap((name, i) => (['yes', 'no'].includes(cells[i] ?? '') ? [[name, cells[i] === 'yes']] : [])),
  );
}

/** Whether each capability works. Prints how one fails. */
function verdicts(outcomes: Outcomes): Readonly<Record<string, boolean>> {
  const failed = Object.entries(outcomes).filter(([, outcome]) => outcome !== 'works');
  if (failed.length > 0) console.log(Object.fromEntries(failed));
  return Object.fromEntries(Object.entries(outcomes).map(([name, outcome]) => [name, outcome === 'works']));
}

/** A worker of workerd that may open connections to loopback. */
const configuration = (): string => `
  using Workerd = import "/workerd/workerd.capnp";
  const config :Workerd.Config = (services = [
    (name = "main", worker = (
      modules = [(name = "worker", esModule = embed "bundle.js")],
      bindings = [(name = "WORLD", json = ${JSON.stringify(JSON.stringify(JSON.stringify(world)))})],
      compatibilityDate = "2026-07-01",
    )),
    (name = "internet", network = (allow = ["local"])),
  ]);`;

describe('the table of runtimes says what works', () => {
  it.each([
    ['Node.js 20.19', [join('node20', 'bin', 'node')]],
    ['Node.js 22', [join('node22', 'bin', 'node')]],
    ['Node.js 24', [join('node24', 'bin', 'node')]],
    ['Node.js 26', [join('node26', 'bin', 'node')]],
    ['Bun', [join('.bin', 'bun')]],
    ['Deno', [join('.bin', 'deno'), 'run', '--quiet', '--allow-all']],
  ])('in %s', async (runtime, [command = '', ...args]) => {
    const executable = join(app.folder, 'node_modules', command);
    const { stdout } = await app.run(executable, ...args, 'server.mjs', JSON.stringify(world));
    expect(verdicts(JSON.parse(stdout) as Outcomes)).toEqual(await documented(runtime));
  });

  it('in workerd', async () => {
    await app.write('bundle.js', (await bundled(app.folder, "export { default } from './worker.mjs'")).text);
    await app.write('config.capnp', configuration());
    const { stdout } = await app.run(join(app.folder, 'node_modules', '.bin', 'workerd'), 'test', 'config.capnp');
    expect(verdicts(JSON.parse(stdout) as Outcomes)).toEqual(await documented('workerd'));
  });

  itInChromium('in Chromium', async () => {
    const hash = `#${encodeURIComponent(JSON.stringify(world))}`;
    const outcomes = await runInChromium<Outcomes>(join(app.folder, 'page.mjs'), hash);
    expect(verdicts(outcomes)).toEqual(await documented('Chromium'));
  });
});

describeServers(() => app.folder);

describe('a feed as an Observable of another kind', () => {
  const expected = { read: expect.any(Number), isWhole: true, isEnded: true };

  it('of RxJS 9 has every update, and ends when it is aborted', async () => {
    const executable = join(app.folder, 'node_modules', 'node24', 'bin', 'node');
    const { stdout } = await app.run(executable, 'rxjs9.mjs', sandbox.url);
    expect(JSON.parse(stdout)).toEqual(expected);
  });

  itInChromium('of the browser has every update, and ends when it is aborted', async () => {
    const hash = `#${encodeURIComponent(sandbox.url)}`;
    expect(await runInChromium(join(app.folder, 'platformPage.mjs'), hash)).toEqual(expected);
  });
});

describe('the proxy of the environment', () => {
  it('is used by the command line in Node.js 24 with NODE_USE_ENV_PROXY=1, and not without it', async () => {
    const proxy = await connectProxy(sandbox.url);
    const executable = join(app.folder, 'node_modules', 'node24', 'bin', 'node');
    const bin = join(app.folder, 'node_modules', 'canton-rx', 'dist', 'cli', 'main.js');
    const check = (env: Readonly<Record<string, string>>): Promise<string> =>
      promisify(execFile)(executable, [bin, 'check', '--ledger', 'http://localhost'], {
        env: { ...process.env, HTTP_PROXY: proxy.url, ...env },
      }).then(
        ({ stdout }) => stdout,
        (error: unknown) => String((error as { readonly stdout: unknown }).stdout),
      );
    try {
      expect(await check({ NODE_USE_ENV_PROXY: '1' })).toMatch(
        /^✓ reachable {6}yes\n(?:.*\n)*✓ proxy {10}requests go through that of HTTP_PROXY\n/m,
      );
      expect(new Set(proxy.targets)).toEqual(new Set(['localhost:80']));
      const before = proxy.targets.length;
      expect(await check({ NODE_USE_ENV_PROXY: '' })).toContain('– proxy      not used, although HTTP_PROXY is set');
      expect(proxy.targets).toHaveLength(before);
    } finally {
      await proxy.close();
    }
  });
});
