import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
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

const main = (imports: string, value: string, providers = ''): string => `
  import { Component, provideZonelessChangeDetection } from '@angular/core';
  import { bootstrapApplication } from '@angular/platform-browser';
  ${imports}
  @Component({ selector: 'app-root', template: '{{ value }}' })
  class App { readonly value: unknown = ${value}; }
  void bootstrapApplication(App, { providers: [provideZonelessChangeDetection(), ${providers}] });`;

let consumer: Project;
/** The size of an application without the library. */
let baseline = 0;
beforeAll(async () => {
  consumer = await project();
  await consumer.run('npm', 'install', '--ignore-scripts', '--prefer-offline', ...angular, ...tools);
  await consumer.write('angular.json', JSON.stringify(workspace));
  await consumer.write('tsconfig.json', JSON.stringify(compiler));
  baseline = (await build(main('', '1'))).gzip;
}, 400_000);
afterAll(() => consumer.remove(), 60_000);

/** Builds an application for production. Returns the output of the builder, the bundle, and its size with gzip. */
async function build(source: string): Promise<{ output: string; text: string; gzip: number }> {
  await consumer.write('main.ts', source);
  const { stdout, stderr } = await consumer.run(join('node_modules', '.bin', 'ng'), 'build');
  const bundle = await readFile(join(consumer.folder, 'out', 'browser', 'main.js'));
  return { output: stdout + stderr, text: bundle.toString(), gzip: gzipSync(bundle, { level: 9 }).length };
}

const apps: readonly {
  name: string;
  imports: string;
  value: string;
  providers?: string;
  budget: number;
  codecs: readonly string[];
}[] = [
  {
    name: 'a ledger',
    imports: "import { createLedger } from 'canton-rx';",
    value: "createLedger({ baseUrl: 'http://127.0.0.1:1' })",
    budget: 29_600,
    codecs: ['PrepareRequest', 'CreatedEvent'],
  },
  {
    name: 'a ledger that only reads',
    imports: "import { createLedgerReader } from 'canton-rx';",
    value: "createLedgerReader({ baseUrl: 'http://127.0.0.1:1' })",
    budget: 24_700,
    codecs: ['CreatedEvent'],
  },
  {
    name: 'a ledger that is injected',
    imports: "import { injectLedger, provideLedger } from 'canton-rx/angular';",
    value: 'injectLedger()',
    providers: "provideLedger({ baseUrl: 'http://127.0.0.1:1' })",
    budget: 31_000,
    codecs: ['PrepareRequest', 'CreatedEvent'],
  },
  {
    name: 'a processor with a ledger that is injected',
    imports: `import { acsDelta } from 'canton-rx';
      import { injectLedger, provideLedger } from 'canton-rx/angular';
      import { processFeed, updatesFeed } from 'canton-rx/process';`,
    value: `processFeed(
      updatesFeed(injectLedger(), { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) }),
      () => undefined,
    )`,
    providers: "provideLedger({ baseUrl: 'http://127.0.0.1:1' })",
    budget: 38_700,
    codecs: ['PrepareRequest', 'CreatedEvent'],
  },
  {
    name: 'a ledger over HttpClient',
    imports: `import { provideHttpClient, withFetch } from '@angular/common/http';
      import { injectLedger, provideLedger, withAngularHttp } from 'canton-rx/angular';`,
    value: 'injectLedger()',
    providers: "provideHttpClient(withFetch()), provideLedger({ baseUrl: 'http://127.0.0.1:1' }, withAngularHttp())",
    budget: 38_800,
    codecs: ['PrepareRequest', 'CreatedEvent'],
  },
  {
    name: 'an operator',
    imports: "import { ofVariant } from 'canton-rx';",
    value: "ofVariant('Transaction')",
    budget: 100,
    codecs: [],
  },
  {
    name: 'a codec',
    imports: "import { Update } from 'canton-rx';",
    value: 'Update.decode({})',
    budget: 5_750,
    codecs: ['CreatedEvent'],
  },
];

describe.each(apps)('an Angular application with $name', ({ name, imports, value, providers, budget, codecs }) => {
  it('is built without a warning, and contains only what it uses of the library', async () => {
    const { output, text, gzip } = await build(main(imports, value, providers));
    console.log(`${name}: ${gzip} bytes of gzip, ${gzip - baseline} more than without the library`);
    expect(output).toContain('bundle generation complete');
    expect(output).not.toMatch(/warning/i);
    expect(['PrepareRequest', 'CreatedEvent'].filter((codec) => text.includes(`"${codec}"`))).toEqual(codecs);
    expect(gzip - baseline).toBeLessThan(budget);
  });
});
