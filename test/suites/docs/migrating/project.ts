import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import ts from 'typescript';
import { compile, forBundler } from '../examples.js';
import type { Block, Side } from './guide.js';

/** The applications before and after a migration: a folder for each, with what is installed there. */
export interface Applications {
  /** The compiler's errors in the blocks of a side, each with its file. */
  readonly check: (side: Side, blocks: readonly Block[]) => readonly string[];
  /** Writes files, and bundles one of them into a program. Returns its path. */
  readonly bundle: (side: Side, files: Readonly<Record<string, string>>, main: string) => Promise<string>;
  readonly remove: () => Promise<void>;
}

/** The last releases of the packages that the guide is about, which belong together. */
const former = { '@daml/ledger': '2.10.4', '@daml/types': '2.10.4' };
const react = { react: '18.3.1' };
const packages: Readonly<Record<Side, object>> = {
  before: {
    dependencies: {
      ...former,
      ...react,
      '@daml/react': '2.2.0',
      'react-test-renderer': '18.3.1',
      '@types/react': '18.3.12',
    },
    overrides: { '@daml/react': { ...former, ...react } },
  },
  now: {
    dependencies: { ...react, '@daml/types': '3.5.2', 'react-test-renderer': '18.3.1', '@types/react': '18.3.12' },
  },
};
const generated: Readonly<Record<Side, readonly [fixture: string, name: string]>> = {
  before: ['tasks210', 'tasks-1.0.0'],
  now: ['tasks35', 'tasks-2.0.0'],
};

/** Installs both applications, with the built library of a folder. */
export async function applications(root: string): Promise<Applications> {
  const folder = await mkdtemp(join(tmpdir(), 'canton-rx-'));
  for (const side of ['before', 'now'] as const) {
    const modules = join(folder, side, 'node_modules');
    await mkdir(join(modules, '@daml.js'), { recursive: true });
    await writeFile(join(folder, side, 'package.json'), JSON.stringify({ private: true, ...packages[side] }));
    await promisify(execFile)('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund'], {
      cwd: join(folder, side),
    });
    const [fixture, name] = generated[side];
    await mkdir(join(modules, '@daml.js'), { recursive: true });
    await cp(join(root, 'test', 'fixtures', fixture), join(modules, '@daml.js', name), { recursive: true });
    // one copy of what the library imports itself
    const imported = side === 'now' ? ['rxjs', 'ky', 'io-ts', 'fp-ts', '@canton-network'] : [];
    const shared = ['@types/node', '@angular', ...imported];
    for (const name of shared) await symlink(join(root, 'node_modules', name), join(modules, name), 'junction');
    if (side === 'before') continue;
    // copied, so that it imports the React of the application
    for (const part of ['package.json', 'dist'])
      await cp(join(root, part), join(modules, 'canton-rx', part), { recursive: true });
  }
  return {
    check: (side, blocks) =>
      compile(
        blocks.map(({ file }) => join(folder, side, file)),
        { ...forBundler, moduleDetection: ts.ModuleDetectionKind.Force, experimentalDecorators: true },
      ).flat(),
    bundle: async (side, files, main) => {
      for (const [file, code] of Object.entries(files)) await writeFile(join(folder, side, file), code);
      const outfile = join(folder, side, `${main.replace(/\.tsx?$/, '')}.mjs`);
      await build({
        ...{ entryPoints: [join(folder, side, main)], outfile, bundle: true, logLevel: 'silent' },
        ...{ platform: 'node', format: 'esm', target: 'node20', jsx: 'automatic' },
        tsconfigRaw: { compilerOptions: { experimentalDecorators: true, useDefineForClassFields: false } },
        // what is CommonJS asks for it
        banner: { js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);` },
      });
      return outfile;
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
