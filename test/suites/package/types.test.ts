import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { lockedVersion, type Printed, project, root, type Project } from './project.js';

interface Manifest {
  readonly exports: Readonly<Record<string, unknown>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Manifest;
const entries = Object.keys(manifest.exports).filter((entry) => entry !== './package.json');

const exec = promisify(execFile);

let app: Project;
beforeAll(async () => {
  app = await project();
  const types = ['@types/node', '@types/react', '@types/ws', 'undici', 'ws'];
  const packages = await Promise.all([...Object.keys(manifest.peerDependencies), ...types].map(lockedVersion));
  const versions = ['54@npm:typescript@5.4.5', '59@npm:typescript@5.9.3', '70@npm:typescript@7.0.2'];
  const compilers = versions.map((version) => `typescript${version}`);
  await app.run('npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', ...packages, ...compilers);
  const imports = entries.map((entry, i) => `import * as entry${i} from '${join('canton-rx', entry)}';`);
  imports.push(
    "import { startSandbox } from 'canton-rx/sandbox';",
    'export const use = async () => { await using sandbox = await startSandbox(); return sandbox.url; };',
  );
  await app.write(
    'all.mts',
    `${imports.join('\n')}\nexport const all = [${entries.map((_, i) => `entry${i}`).join()}];`,
  );
});
afterAll(() => app.remove(), 60_000);

/** What programs export of a value whose type is inferred: the compiler writes the type into their declarations. */
const parts = `
import type { Completion, CreatedEvent, OffsetCheckpoint, PreparedSubmission, StoreError, Transaction, VerificationError } from 'canton-rx';
import type { AutomationStatus } from 'canton-rx/automation';
import type { OptimisticState, UndecodedContract } from 'canton-rx/contracts';
export const trace = (of: Transaction) => of.traceContext;
export const times = (of: OffsetCheckpoint) => of.synchronizerTimes;
export const views = (of: CreatedEvent) => of.interfaceViews.map(({ viewStatus }) => viewStatus);
export const scheme = (of: PreparedSubmission) => of.hashingSchemeVersion;
export const reason = (of: VerificationError) => of.reason;
export const operation = (of: StoreError) => of.operation;
export const failure = (of: AutomationStatus) => of.failures;
export const refused = (of: OptimisticState<UndecodedContract, string>) => of.refused;
export const completion = (of: Completion) => of.synchronizerTime;
`;

describe('the types of every entry point, in strict mode, without skipLibCheck and without lib dom', () => {
  // what these packages declare themselves does not compile so
  it.each([
    ['5.4', join('node_modules', 'typescript54'), ['@angular/core', '@nats-io/nats-core', 'pg-protocol']],
    ['5.9', join('node_modules', 'typescript59'), ['@angular/core']],
    ['6.0', join(root, 'node_modules', 'typescript'), ['@angular/core']],
    ['7.0', join('node_modules', 'typescript70'), ['@angular/core']],
  ])('compile with TypeScript %s', async (version, compiler, flawed) => {
    const tsc = join(compiler, 'bin', 'tsc');
    expect((await app.run('node', tsc, '--version')).stdout).toContain(`Version ${version}.`);
    const lax = ['--noEmit', '--pretty', 'false', '--skipLibCheck', 'false'];
    const target = ['--strict', '--target', 'es2022', '--lib', 'es2022', '--types', 'node', '--module', 'nodenext'];
    const errors = await app.run('node', tsc, ...lax, ...target, 'all.mts').then(
      ({ stdout }) => stdout,
      (failure: unknown) => (failure as Printed).stdout,
    );
    const files = errors.split('\n').flatMap((line) => /^(\S.*?)\(\d+,\d+\): error/.exec(line)?.[1] ?? []);
    const inPackages = files.map((file) => /node_modules\/((@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? file);
    expect([...new Set(inPackages)].sort()).toEqual(flawed);
  });
});

it('are named for programs that export what they infer, with the option declaration', async () => {
  const modules = entries.map((entry) => join('canton-rx', entry));
  const list = `await import('@angular/compiler'); console.log(JSON.stringify(await Promise.all(
    process.argv.slice(1).map(async (entry) => Object.keys(await import(entry))))))`;
  const { stdout } = await exec('node', ['--input-type=module', '-e', list, ...modules], { cwd: root });
  const exported = (JSON.parse(stdout) as string[][]).flatMap((names, i) => [
    `import * as entry${i} from '${modules[i]}';`,
    ...names.map((name) => `export const of${i}${name} = entry${i}.${name};`),
  ]);
  await app.write('exported.mts', [...exported, parts].join('\n'));
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const target = ['--strict', '--target', 'es2022', '--types', 'node', '--skipLibCheck', '--pretty', 'false'];
  for (const resolution of [
    ['--module', 'nodenext'],
    ['--module', 'esnext', '--moduleResolution', 'bundler'],
  ]) {
    const options = [...target, ...resolution, '--declaration', '--outDir', 'declared'];
    await expect(app.run('node', tsc, ...options, 'exported.mts')).resolves.toMatchObject({ stdout: '' });
  }
});
