import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { project } from '../package/project.js';

/** The newest version for Node.js 20 of which all packages are published. */
const angular = ['core', 'common', 'compiler', 'compiler-cli', 'platform-browser'].map(
  (name) => `@angular/${name}@21.2.26`,
);
const tools = ['@angular/build@21.2.27', '@angular/cli@21.2.27', 'typescript@5.9.3'];

const workspace = {
  version: 1,
  cli: { analytics: false },
  projects: {
    app: {
      projectType: 'application',
      root: '',
      architect: {
        build: {
          builder: '@angular/build:application',
          options: {
            browser: 'main.ts',
            tsConfig: 'tsconfig.json',
            index: false,
            outputHashing: 'none',
            outputPath: 'out',
          },
        },
      },
    },
  },
};
const compiler = {
  compilerOptions: {
    target: 'es2022',
    module: 'preserve',
    lib: ['es2023', 'dom', 'dom.iterable'],
    types: [],
    strict: true,
    experimentalDecorators: true,
  },
  files: ['main.ts'],
};

/** An application of Angular with the packed library. */
export interface Application {
  readonly folder: string;
  readonly remove: () => Promise<void>;
  /** Builds it for production, with other files beside `main.ts`. */
  readonly build: (main: string, files?: Readonly<Record<string, string>>) => Promise<Built>;
}

/** The output of the builder, the bundle, and its size with gzip. */
export interface Built {
  readonly output: string;
  readonly text: string;
  readonly gzip: number;
}

export async function application(): Promise<Application> {
  const folder = await installTools();
  const write = (files: Readonly<Record<string, string>>): Promise<unknown> =>
    Promise.all(Object.entries(files).map(([file, content]) => writeFile(join(folder, file), content)));
  await write({ 'angular.json': JSON.stringify(workspace), 'tsconfig.json': JSON.stringify(compiler) });
  return {
    folder,
    remove: () => rm(folder, { recursive: true, force: true }),
    build: async (main, files = {}) => {
      await write({ ...files, 'main.ts': main });
      const { stdout, stderr } = await promisify(execFile)(join('node_modules', '.bin', 'ng'), ['build'], {
        cwd: folder,
      });
      const bundle = await readFile(join(folder, 'out', 'browser', 'main.js'));
      return { output: stdout + stderr, text: bundle.toString(), gzip: gzipSync(bundle, { level: 9 }).length };
    },
  };
}

/** A folder with the library and Angular's tools: those of the example that is installed already, if it is. */
async function installTools(): Promise<string> {
  const examples = process.env['CANTON_RX_EXAMPLES'];
  if (examples === undefined) {
    const { folder, run } = await project();
    await run('npm', 'install', '--ignore-scripts', '--prefer-offline', ...angular, ...tools);
    return folder;
  }
  const folder = await mkdtemp(join(tmpdir(), 'canton-rx-'));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'app', private: true }));
  await symlink(join(examples, 'angular', 'node_modules'), join(folder, 'node_modules'), 'dir');
  return folder;
}
