import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from '@jest/globals';
import { packInto } from './project.js';

const exec = promisify(execFile);

/** The packages that the README's line installs next to the library. */
const peers = ['rxjs', 'io-ts', 'fp-ts'];

/** Reads a feed from a sandbox. */
const program = `
  import { count, lastValueFrom } from 'rxjs';
  import { acsDelta, createLedger } from 'canton-rx';
  import { startSandbox } from 'canton-rx/sandbox';
  const sandbox = await startSandbox();
  sandbox.generate(30);
  const request = { beginExclusive: 0, endInclusive: sandbox.ledgerEnd, updateFormat: acsDelta({ parties: 'any' }) };
  console.log((await lastValueFrom(createLedger({ baseUrl: sandbox.url }).updates(request).pipe(count()))) > 10);
  await sandbox.close();`;

// here, because concurrent tests begin before what beforeAll does
const folder = await mkdtemp(join(tmpdir(), 'canton-rx-'));
const tarball = await packInto(folder);
const tools = ['pnpm@10.34.9', 'yarn@1.22.22', '@yarnpkg/cli-dist@4.18.1'];
const toolsFolder = join(folder, 'tools');
await exec('npm', ['install', '--prefix', toolsFolder, '--prefer-offline', '--no-audit', '--no-fund', ...tools]);
afterAll(() => rm(folder, { recursive: true, force: true }), 60_000);

/** An empty project that refuses packages which exclude this version of Node.js. */
async function emptyProject(name: string): Promise<(command: string, ...args: readonly string[]) => Promise<string>> {
  const cwd = join(folder, 'projects', name);
  await mkdir(cwd, { recursive: true });
  await writeFile(join(cwd, 'package.json'), '{ "name": "app", "private": true }');
  await writeFile(join(cwd, '.npmrc'), 'engine-strict=true\n');
  await writeFile(join(cwd, 'feed.mjs'), program);
  const env = { ...process.env, YARN_GLOBAL_FOLDER: join(folder, 'yarn4'), YARN_ENABLE_TELEMETRY: '0' };
  return async (command, ...args) => (await exec(command, [...args], { cwd, env })).stdout;
}

const tool = (...path: readonly string[]): string => join(toolsFolder, 'node_modules', ...path);

describe('the line of the README', () => {
  it.concurrent.each([
    ['npm', peers],
    ['npm with the oldest peers', ['rxjs@7.8.0', 'io-ts@2.2.20', 'fp-ts@2.13.1']],
  ])('installs a library that works: %s', async (name, packages) => {
    const run = await emptyProject(name);
    await run('npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', tarball, ...packages);
    expect(await run('node', 'feed.mjs')).toBe('true\n');
  });

  it.concurrent('installs a library that works: pnpm', async () => {
    const run = await emptyProject('pnpm');
    const strict = ['--config.strict-peer-dependencies=true', '--config.auto-install-peers=false'];
    const pnpm = tool('pnpm', 'bin', 'pnpm.cjs');
    await run('node', pnpm, 'add', '--store-dir', join(folder, 'pnpm'), ...strict, tarball, ...peers);
    expect(await run('node', 'feed.mjs')).toBe('true\n');
  });

  it.concurrent('installs a library that works: Yarn 1', async () => {
    const run = await emptyProject('yarn1');
    const yarn = tool('yarn', 'bin', 'yarn.js');
    await run('node', yarn, 'add', '--cache-folder', join(folder, 'yarn1'), tarball, ...peers);
    expect(await run('node', 'feed.mjs')).toBe('true\n');
  });

  it.concurrent("installs a library that works: Yarn 4, which loads no package that isn't declared", async () => {
    const run = await emptyProject('yarn4');
    const yarn = tool('@yarnpkg', 'cli-dist', 'bin', 'yarn.js');
    await run('node', yarn, 'add', `canton-rx@file:${tarball}`, ...peers);
    expect(await run('node', yarn, 'node', 'feed.mjs')).toBe('true\n');
  });
});

it.concurrent('is refused by npm next to an older copy of io-ts, whose types differ', async () => {
  const run = await emptyProject('old');
  const install = run('npm', 'install', '--loglevel', 'error', tarball, 'rxjs', 'fp-ts', 'io-ts@2.2.16');
  await expect(install).rejects.toMatchObject({
    stderr: expect.stringMatching(/ERESOLVE[^]*peer io-ts@"\^2\.2\.20" from canton-rx/),
  });
});
