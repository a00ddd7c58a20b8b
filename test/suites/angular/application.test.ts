import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.js';
import { itInChromium, launchChromium } from '../../helpers/browser.js';
import { httpServer } from '../../helpers/localServers.js';
import { project, root } from '../package/project.js';

/** The newest version for Node.js 20 of which all packages are published. */
const angular = ['core', 'common', 'compiler', 'compiler-cli', 'platform-browser'].map(
  (name) => `@angular/${name}@21.2.26`,
);
const tools = ['@angular/build@21.2.27', '@angular/cli@21.2.27', 'typescript@5.9.3'];

const builderOptions = { browser: 'main.ts', tsConfig: 'tsconfig.json', index: false, outputHashing: 'none' };
const configuration = {
  'angular.json': {
    version: 1,
    cli: { analytics: false },
    projects: {
      app: {
        projectType: 'application',
        root: '',
        architect: {
          build: { builder: '@angular/build:application', options: { ...builderOptions, outputPath: 'out' } },
        },
      },
    },
  },
  'tsconfig.json': {
    compilerOptions: {
      ...{ target: 'es2022', module: 'preserve', lib: ['es2023', 'dom', 'dom.iterable'], types: [] },
      ...{ strict: true, experimentalDecorators: true },
    },
    files: ['main.ts'],
  },
};

/** A time limit for slow machines, too, in milliseconds. */
const buildMs = 400_000;

let folder: string;
let sandbox: Sandbox;
let browser: Browser | undefined;
beforeAll(async () => {
  folder = await installTools();
  await write(Object.fromEntries(Object.entries(configuration).map(([file, json]) => [file, JSON.stringify(json)])));
  sandbox = await startSandbox({ cors: true });
}, buildMs);
afterAll(async () => {
  await browser?.close();
  await sandbox.close();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

/** A folder with the packed library and Angular's tools: those of the example that is installed already, if it is. */
async function installTools(): Promise<string> {
  const examples = process.env['CANTON_RX_EXAMPLES'];
  if (examples === undefined) {
    const consumer = await project();
    await consumer.run('npm', 'install', '--ignore-scripts', '--prefer-offline', ...angular, ...tools);
    return consumer.folder;
  }
  const linked = await mkdtemp(join(tmpdir(), 'canton-rx-'));
  await writeFile(join(linked, 'package.json'), JSON.stringify({ name: 'app', private: true }));
  await symlink(join(examples, 'angular', 'node_modules'), join(linked, 'node_modules'), 'dir');
  return linked;
}

const write = (files: Readonly<Record<string, string>>): Promise<unknown> =>
  Promise.all(Object.entries(files).map(([file, content]) => writeFile(join(folder, file), content)));

/** Builds an application for production. Returns its script, which must be built without a warning. */
async function built(files: Readonly<Record<string, string>>): Promise<string> {
  await write(files);
  const { stdout, stderr } = await promisify(execFile)(join('node_modules', '.bin', 'ng'), ['build'], { cwd: folder });
  expect(stdout + stderr).toContain('bundle generation complete');
  expect(stdout + stderr).not.toMatch(/warning/i);
  return readFile(join(folder, 'out', 'browser', 'main.js'), 'utf8');
}

describe('an application', () => {
  const main = (imports: string, value: string): string => `
    import { Component, provideZonelessChangeDetection } from '@angular/core';
    import { bootstrapApplication } from '@angular/platform-browser';
    import { ${imports}provideLedger } from 'canton-rx/angular';
    @Component({ selector: 'app-root', template: '{{ value }}' })
    class App { readonly value: unknown = ${value}; }
    void bootstrapApplication(App, { providers: [provideZonelessChangeDetection(), ${ledgerIf(value !== '1')}] });`;
  const ledgerIf = (isUsed: boolean) => (isUsed ? "provideLedger({ baseUrl: 'http://127.0.0.1:1' })" : '');
  const sizes: number[] = [];

  // what else a program contains, the suite of the package tests with the resolution of Angular
  it.each([
    { what: 'nothing of the library', imports: '', value: '1', budget: 0 },
    { what: 'a ledger', imports: 'injectLedger, ', value: 'injectLedger()', budget: 64_700 },
    {
      what: 'live contracts',
      imports: 'injectContracts, ',
      value: "injectContracts({ parties: 'any' }).value()",
      budget: 88_800,
    },
  ])(
    'with $what is built without a warning, and no larger than that',
    async ({ what, imports, value, budget }) => {
      sizes.push(gzipSync(await built({ 'main.ts': main(imports, value) }), { level: 9 }).length);
      const added = (sizes.at(-1) ?? NaN) - (sizes[0] ?? NaN);
      console.log(`${what}: ${added} bytes of gzip more than without the library`);
      expect(added).toBeLessThanOrEqual(budget);
    },
    buildMs,
  );
});

/** The blocks of the guide that are modules with a text in them. */
async function blockWith(text: string): Promise<string> {
  const names = ['angular', 'angular-contracts', 'angular-submitting', 'angular-testing', 'angular-production'];
  const guides = names.map((name) => readFile(join(root, 'docs', `${name}.md`), 'utf8'));
  const guide = (await Promise.all(guides)).join('\n');
  const blocks = [...guide.matchAll(/^```ts no-run\n(.*?)^```$/gms)].map(([, block = '']) => block);
  const block = blocks.find((each) => /^import /m.test(each) && each.includes(text));
  if (block === undefined) throw new Error(`the guide has no block with ${text}`);
  return block;
}

/** Runs a script on a page. */
async function show<A>(script: string, path: string, use: (page: Page) => Promise<A>): Promise<A> {
  browser ??= await launchChromium();
  if (browser === undefined) throw new Error('there is no browser');
  const server = await httpServer(({ url }, response) => {
    if (url === '/main.js') response.setHeader('content-type', 'text/javascript').end(script);
    else response.setHeader('content-type', 'text/html').end(html);
  });
  const page = await browser.newPage();
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  try {
    await page.goto(server.url + path);
    const result = await use(page);
    expect(errors).toEqual([]);
    return result;
  } finally {
    await page.close();
    await server.close();
  }
}
const html =
  '<!doctype html><title>test</title><app-root></app-root><app-add-task></app-add-task><script type="module" src="/main.js"></script>';

/** An application with the table or the form of the guide, or with only the visible rows of many. */
const main = (): string => `
  import { provideHttpClient, withFetch } from '@angular/common/http';
  import { provideZonelessChangeDetection, type Type } from '@angular/core';
  import { bootstrapApplication } from '@angular/platform-browser';
  import { provideLedger, withAngularHttp } from 'canton-rx/angular';
  import { AddTask } from './add-task';
  import { App } from './app';
  import { Rows } from './rows';
  const isLong = location.pathname === '/rows';
  const pages: Readonly<Record<string, Type<unknown>>> = { '/': App, '/rows': Rows, '/add': AddTask };
  const ledger = provideLedger({ baseUrl: '${sandbox.url}' }, ...(isLong ? [] : [withAngularHttp()]));
  void bootstrapApplication(pages[location.pathname], {
    providers: [provideZonelessChangeDetection(), provideHttpClient(withFetch()), ledger],
  });`;

const rows = `
  import { Component, computed, effect, signal } from '@angular/core';
  import { contractType } from 'canton-rx';
  import { injectContracts } from 'canton-rx/angular';
  import * as t from 'io-ts';
  const Task = contractType('#sandbox-tasks:Tasks.Model:Task', t.type({ owner: t.string, title: t.string }));
  const rowHeight = 24;
  let changes = -1;
  @Component({
    selector: 'app-root',
    template: \`
      <p>{{ tasks.value().length }} tasks, {{ tasks.isLive() ? 'live' : 'not live' }}, at {{ tasks.offset() }}</p>
      <div style="height: 600px; overflow: auto" (scroll)="top.set($any($event.target).scrollTop)">
        <div style="position: relative" [style.height.px]="tasks.value().length * \${rowHeight}">
          @for (task of shown(); track task.contractId; let i = $index) {
            <div style="position: absolute" [style.top.px]="(first() + i) * \${rowHeight}">
              {{ task.payload?.title }} {{ task.payload?.owner }} {{ task.createdAt }}
            </div>
          }
        </div>
      </div>\`,
  })
  export class Rows {
    readonly tasks = injectContracts({ types: { task: Task }, parties: 'any' }, { compare: (a, b) => b.offset - a.offset });
    readonly top = signal(0);
    readonly first = computed(() => Math.floor(this.top() / rowHeight));
    readonly shown = computed(() => this.tasks.value().slice(this.first(), this.first() + 40));
    readonly count = effect(() => { this.tasks.value(); changes += 1; });
  }
  const measure = (ms: number) => new Promise((resolve) => {
    const begin = performance.now();
    const before = changes;
    let frames = 0;
    const frame = (now: number) => {
      frames += 1;
      return now < begin + ms ? requestAnimationFrame(frame) : resolve({ frames, changes: changes - before });
    };
    requestAnimationFrame(frame);
  });
  Object.assign(globalThis, { measure });`;

/** Builds the application for all pages. */
let application: Promise<string> | undefined;
const open = async <A>(path: '/' | '/rows' | '/add', use: (page: Page) => Promise<A>): Promise<A> => {
  const guide = {
    'app.ts': await blockWith('tasks = injectContracts'),
    'add-task.ts': await blockWith('injectSubmit('),
  };
  const files = { 'main.ts': main(), ...guide, 'rows.ts': rows };
  return show(await (application ??= built(files)), path, use);
};

/** Appends a transaction that creates a task, or archives one. */
const appendTask = (contractId: string, title: string): void => {
  const [owner = ''] = sandbox.parties;
  const createArgument = { owner, title, due: '2026-12-31', steps: [] };
  const created = { templateId: '#sandbox-tasks:Tasks.Model:Task', contractId, createArgument, signatories: [owner] };
  sandbox.append({ Transaction: { value: { events: [{ CreatedEvent: created }] } } });
};
const archiveTask = (contractId: string): void => {
  sandbox.append({ Transaction: { value: { events: [{ ArchivedEvent: { contractId } }] } } });
};

describe('the guide to live contracts in Angular', () => {
  itInChromium(
    'has a table that shows typed contracts, and follows them, also over HttpClient',
    () =>
      open('/', async (page) => {
        await page.getByText('No tasks').waitFor();
        appendTask('00aa', 'Buy milk');
        await page.getByText('Buy milk').waitFor();
        const owner = sandbox.parties[0]?.split('::')[0];
        expect(await page.locator('td').allTextContents()).toEqual(['Buy milk', '2026-12-31', owner]);
        archiveTask('00aa');
        await page.getByText('No tasks').waitFor();
      }),
    buildMs,
  );

  itInChromium('has a test of it that passes', async () => {
    const setup = `
      import '@angular/compiler';
      import { getTestBed } from '@angular/core/testing';
      import { BrowserTestingModule, platformBrowserTesting } from '@angular/platform-browser/testing';
      getTestBed().initTestEnvironment(BrowserTestingModule, platformBrowserTesting());
      const seen = [];
      const end = (result) => Object.assign(globalThis, { seen: [result, ...seen] });
      Object.assign(globalThis, {
        it: (name, test) => test().then(() => end(name), (error) => end(String(error))),
        expect: (text) => ({
          toContain: (part) => {
            if (!text.includes(part)) throw new Error(text + ' has no ' + part);
            seen.push('has ' + part);
          },
        }),
      });`;
    const [app, spec] = [await blockWith('tasks = injectContracts'), await blockWith('contracts.create(')];
    await write({ 'setup.ts': setup, 'app.ts': app, 'app.spec.ts': spec });
    // without Angular's builder, as a test runner does
    const { outputFiles } = await build({
      stdin: { contents: "import './setup'; import './app.spec';", resolveDir: folder },
      tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
      ...{ bundle: true, write: false, format: 'esm', target: 'es2022', logLevel: 'silent' },
    });
    const seen = await show(outputFiles[0]?.text ?? '', '/', async (page) => {
      await page.waitForFunction('globalThis.seen !== undefined', undefined, { timeout: 100_000 });
      return page.evaluate<string[]>('globalThis.seen');
    });
    expect(seen).toEqual(['shows the tasks', 'has Loading', 'has Buy milk', 'has No tasks']);
  });
});

describe('a page with 10 000 contracts', () => {
  const measuredMs = 2_000;
  const changesPerSecond = 200;
  const contractCount = 10_000;

  /** Creates and archives contracts, so that their number stays the same. */
  function changeContracts(): () => void {
    let created = 0;
    let archived = 0;
    const create = (): void => {
      created += 1;
      appendTask(`00${created.toString(16)}`, `Task ${created}`);
    };
    while (created < contractCount) create();
    const begin = performance.now();
    let done = 0;
    const timer = setInterval(() => {
      const due = Math.floor(((performance.now() - begin) * changesPerSecond) / 1_000);
      for (; done < due; done += 1) {
        if (done % 2 === 0) create();
        else archiveTask(`00${(archived += 1).toString(16)}`);
      }
    }, 10);
    return () => {
      clearInterval(timer);
    };
  }

  itInChromium(
    'changes its signal at most once a frame at 200 changes a second',
    async () => {
      const stop = changeContracts();
      const { frames, changes } = await open('/rows', async (page) => {
        await page.getByText(/(9999|10000|10001) tasks, live/).waitFor({ timeout: 60_000 });
        return page.evaluate<{ frames: number; changes: number }>(`globalThis.measure(${measuredMs})`);
      });
      stop();
      console.log(`${frames} frames and ${changes} changes of the signal in ${measuredMs} ms`);
      // once a frame, and once a second while the browser renders none
      expect(changes).toBeLessThanOrEqual(frames + 1 + measuredMs / 1_000);
      expect(changes).toBeGreaterThan(0);
    },
    buildMs,
  );
});

// last, because its contract stays
describe('the guide to submissions in Angular', () => {
  itInChromium(
    'has a form that adds a contract of a party of the user',
    () =>
      open('/add', async (page) => {
        await page.getByLabel('Title').fill('Buy bread');
        await page.getByRole('button', { name: 'Add' }).click();
        await page.getByText('Added').waitFor();
      }),
    buildMs,
  );
});
