import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const root = join(import.meta.dirname, '..', '..', '..');
const repository = 'https://git.example/canton-rx';
const run = promisify(execFile);

let folder: string;
const git = async (...args: readonly string[]): Promise<string> =>
  (await run('git', [...args], { cwd: folder })).stdout.trim();
const release = (...args: readonly string[]): Promise<string> =>
  run(join('.ci', 'release'), [...args], { cwd: folder }).then(
    ({ stdout }) => stdout,
    (error: unknown) => (error as { readonly stderr: string }).stderr,
  );
const read = (path: string): Promise<string> => readFile(join(folder, path), 'utf8');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'canton-rx-release-'));
  await run('git', ['clone', '-q', root, folder]);
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await git('config', 'user.email', 'release@example.com');
  await git('config', 'user.name', 'release');
  // a link is no folder, which alone is ignored
  await writeFile(join(folder, '.git', 'info', 'exclude'), 'node_modules\n');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a release', () => {
  it.each([
    [[], 'usage'],
    [['0.1', repository], '0.1 is not a version'],
    [['0.1.0'], 'package.json names no repository'],
    [['9.9.9', repository], 'has no section "## [9.9.9] - unreleased"'],
  ])('is refused with a sentence: %j', async (args, reason) => {
    expect(await release(...args)).toContain(reason);
    expect(await git('status', '--porcelain')).toBe('');
  });

  it('is committed, tagged, packed and listed, and is not published', async () => {
    const printed = await release('0.1.0', repository);
    expect(printed).toContain('canton-rx 0.1.0 is committed and tagged as v0.1.0');
    expect(await git('log', '-1', '--format=%s %D')).toMatch(/^chore: release 0\.1\.0 .*tag: v0\.1\.0/);
    expect(await git('status', '--porcelain')).toBe('');
    const manifest = JSON.parse(await read('package.json')) as Readonly<Record<string, unknown>>;
    expect(manifest).toMatchObject({ version: '0.1.0', repository: { url: `git+${repository}.git` } });
    expect(await read('CHANGELOG.md')).toMatch(/^## \[0\.1\.0\] - \d{4}-\d\d-\d\d$/m);
    expect((await readdir(join(folder, 'release'))).sort()).toEqual([
      'SHA512SUMS',
      'canton-rx-0.1.0.cdx.json',
      'canton-rx-0.1.0.tgz',
    ]);
    const { components } = JSON.parse(await read(join('release', 'canton-rx-0.1.0.cdx.json'))) as {
      readonly components: readonly { readonly name: string }[];
    };
    expect(components.map(({ name }) => name)).toEqual(['ky']);
    expect(await release('0.1.0', repository)).toContain('the tag v0.1.0 exists');
  }, 300_000);
});
