import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { project, type Project } from '../package/project.js';

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
export interface Application extends Pick<Project, 'folder' | 'remove'> {
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
  const consumer = await project();
  await consumer.run('npm', 'install', '--ignore-scripts', '--prefer-offline', ...angular, ...tools);
  await consumer.write('angular.json', JSON.stringify(workspace));
  await consumer.write('tsconfig.json', JSON.stringify(compiler));
  return {
    folder: consumer.folder,
    remove: consumer.remove,
    build: async (main, files = {}) => {
      for (const [file, source] of Object.entries({ ...files, 'main.ts': main })) await consumer.write(file, source);
      const { stdout, stderr } = await consumer.run(join('node_modules', '.bin', 'ng'), 'build');
      const bundle = await readFile(join(consumer.folder, 'out', 'browser', 'main.js'));
      return { output: stdout + stderr, text: bundle.toString(), gzip: gzipSync(bundle, { level: 9 }).length };
    },
  };
}
