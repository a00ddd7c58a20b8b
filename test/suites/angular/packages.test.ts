import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { project, type Project, root } from '../package/project.js';

/** The newest version of which the package for servers is published. */
const angular = ['core', 'common', 'compiler', 'platform-browser', 'platform-server'].map(
  (name) => `@angular/${name}@21.2.24`,
);

/** The oldest version, the first with today's resources, and the newest; applications are built with the one before. */
const versions = { 17: '17.3.12', 20: '20.3.35', 22: '22.2.6' };

let consumer: Project;
beforeAll(async () => {
  consumer = await project();
  const aliases = Object.entries(versions).flatMap(([major, version]) =>
    ['core', 'common'].map((name) => `${name}${major}@npm:@angular/${name}@${version}`),
  );
  const packages = [...angular, ...aliases];
  await consumer.run('npm', 'install', '--ignore-scripts', '--prefer-offline', '--legacy-peer-deps', ...packages);
}, 400_000);
afterAll(() => consumer.remove(), 60_000);

/** What every version compiles. */
const application = `
  import { contractType } from 'canton-rx';
  import { type ContractsResource, injectContracts } from 'canton-rx/angular';
  import { ContractsTestingController, provideContractsTesting } from 'canton-rx/angular/testing';
  import * as t from 'io-ts';
  const Task = contractType('#tasks:Main:Task', t.type({ title: t.string }));
  export const tasks = injectContracts({ types: { task: Task }, parties: 'any' });
  export const any: ContractsResource = tasks;
  export const titles: readonly (string | undefined)[] = tasks.value().map(({ payload }) => payload?.title);
  export const providers = [provideContractsTesting(), ContractsTestingController];
  const snapshot = tasks.snapshot();
  export const shown: string | undefined = snapshot.status === 'error' ? snapshot.error.message : snapshot.value[0]?.payload?.title;
`;

/** What the versions with resources compile, too. */
const resource = `
  import type { Resource } from '@angular/core';
  import { tasks } from './application.js';
  type Task = ReturnType<typeof tasks.value>[number];
  export const resource: Resource<readonly Task[]> = tasks;
  // @ts-expect-error these are not numbers
  export const wrong: Resource<readonly number[]> = tasks;
`;

describe('the types of injectContracts', () => {
  it.each(Object.keys(versions))('fit Angular %s, and its resources', async (major) => {
    const config = {
      compilerOptions: {
        ...{
          target: 'es2022',
          module: 'esnext',
          moduleResolution: 'bundler',
          lib: ['es2023', 'dom', 'esnext.disposable'],
        },
        ...{ strict: true, noEmit: true, types: [], skipLibCheck: true },
        paths: Object.fromEntries(
          ['core', 'common'].flatMap((name) => [
            [`@angular/${name}`, [`./node_modules/${name}${major}`]],
            [`@angular/${name}/*`, [`./node_modules/${name}${major}/*`]],
          ]),
        ),
      },
      // there are no resources before Angular 19, and those of 19 are other ones
      files: Number(major) < 20 ? ['application.ts'] : ['application.ts', 'resource.ts'],
    };
    await consumer.write('application.ts', application);
    await consumer.write('resource.ts', resource);
    await consumer.write('tsconfig.json', JSON.stringify(config));
    const tsc = `${root}/node_modules/typescript/bin/tsc`;
    const { stdout } = await consumer.run('node', tsc).catch((error: unknown) => error as { stdout: string });
    expect(stdout).toBe('');
  });
});

/** Renders pages that show live contracts, without HttpClient and without zone.js. */
const contractsScript = `
  import '@angular/compiler';
  import { Component, PendingTasks, provideZonelessChangeDetection } from '@angular/core';
  import { toSignal } from '@angular/core/rxjs-interop';
  import { bootstrapApplication } from '@angular/platform-browser';
  import { provideServerRendering, renderApplication } from '@angular/platform-server';
  import { contractType } from 'canton-rx';
  import { injectContracts, injectLedger, provideLedger, withPendingTasks } from 'canton-rx/angular';
  import { startSandbox } from 'canton-rx/sandbox';
  import * as t from 'io-ts';
  import { catchError, map, of } from 'rxjs';

  const sandbox = await startSandbox();
  const templateId = '#sandbox-tasks:Tasks.Model:Task';
  const [owner] = sandbox.parties;
  const createArgument = { owner, title: 'Buy <milk>', due: '2026-12-31', steps: [] };
  sandbox.append({ Transaction: { value: { events: [{ CreatedEvent: { templateId, createArgument, signatories: [owner] } }] } } });
  const Task = contractType(templateId, t.type({ title: t.string }));
  class App {
    tasks = injectContracts({ types: { task: Task }, parties: 'any' });
    problem = toSignal(injectLedger().ledgerEnd().pipe(map(() => undefined), catchError(({ message }) => of(message))));
  }
  const template = '[{{ tasks.status() }}{{ problem() }}@for (task of tasks.value(); track task.contractId) {, {{ task.payload?.title }}}]';
  Component({ selector: 'app-root', template })(App);
  const render = async (...features) => {
    const providers = [
      provideZonelessChangeDetection(), provideServerRendering(), provideLedger({ baseUrl: sandbox.url }, ...features),
    ];
    return renderApplication((context) => bootstrapApplication(App, { providers }, context), {
      document: '<app-root></app-root>', url: '/',
    });
  };
  const shown = (html) => /\\[([^\\]]*)\\]/.exec(html.replaceAll(/<!--.*?-->/g, ''))?.[1];
  const waiting = await render(withPendingTasks(PendingTasks));
  const state = JSON.parse(/<script id="ng-state" type="application\\/json">(.*?)<\\/script>/.exec(waiting)?.[1] ?? '{}');
  const open = () => sandbox.requests.filter(({ status, aborted }) => status === undefined && !aborted).length;
  const openAfter = open();
  const transferred = Object.entries(state['canton-rx']).filter(([key]) => key.includes(templateId)).map(([, { contracts }]) =>
    contracts.map(({ created }) => created.createArgument.title));
  const notWaiting = shown(await render());
  await sandbox.close();
  const begun = performance.now();
  const closed = await render(withPendingTasks(PendingTasks));
  const { host } = new URL(sandbox.url);
  console.log(JSON.stringify({
    waiting: shown(waiting), transferred, openAfter, notWaiting, closed: shown(closed),
    hasWaited: performance.now() - begun > 2_500, hasAddress: [waiting, closed].some((html) => html.includes(host)),
  }));`;

/** Renders a page that shows the ledger end and the newest update of a feed, without and with feeds on the server. */
const script = `
  import '@angular/compiler';
  import { provideHttpClient, withFetch } from '@angular/common/http';
  import { Component, provideZonelessChangeDetection } from '@angular/core';
  import { toSignal } from '@angular/core/rxjs-interop';
  import { bootstrapApplication } from '@angular/platform-browser';
  import { provideServerRendering, renderApplication } from '@angular/platform-server';
  import { acsDelta } from 'canton-rx';
  import { injectLedger, provideLedger, withAngularHttp, withServerFeeds } from 'canton-rx/angular';
  import { startSandbox } from 'canton-rx/sandbox';

  const sandbox = await startSandbox();
  sandbox.generate(30);
  class App {
    ledger = injectLedger();
    end = toSignal(this.ledger.ledgerEnd());
    newest = toSignal(this.ledger.updates({ beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) }));
  }
  Component({ selector: 'app-root', template: 'end {{ end() }}, newest {{ newest()?.offset }};' })(App);
  const polls = () => sandbox.requests.filter(({ path }) => path.includes('updates'));
  const render = async (...features) => {
    const providers = [
      provideZonelessChangeDetection(), provideServerRendering(), provideHttpClient(withFetch()),
      provideLedger({ baseUrl: sandbox.url }, withAngularHttp(), ...features),
    ];
    const html = await renderApplication((context) => bootstrapApplication(App, { providers }, context), {
      document: '<app-root></app-root>', url: '/',
    });
    return /end (.*), newest (.*);/.exec(html)?.slice(1);
  };
  const without = await render();
  const pollsWithout = polls().length;
  const feeds = await render(withServerFeeds());
  // a request of the page may arrive after it is rendered
  for (let waited = 0; polls().length === 0 && waited < 5_000; waited += 50) await new Promise((resolve) => setTimeout(resolve, 50));
  while (polls().some(({ status, aborted }) => status === undefined && !aborted)) await new Promise(setImmediate);
  const hasPolled = polls().length > 0;
  await sandbox.close();
  // a feed that continues would retry, and keep the process
  process.once('beforeExit', () => {
    console.log(JSON.stringify({ end: String(sandbox.ledgerEnd), without, pollsWithout, feeds, hasPolled }));
  });`;

/** Runs a script, and returns the JSON that it prints last. */
async function printed(module: string): Promise<Readonly<Record<string, unknown>>> {
  await consumer.write('render.mjs', module);
  const { stdout } = await consumer.run('node', 'render.mjs');
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Readonly<Record<string, unknown>>;
}

describe('a page that is rendered on a server', () => {
  it('shows the answers of single requests, reads feeds only with withServerFeeds, and ends them', async () => {
    const { end, feeds, ...seen } = await printed(script);
    expect(seen).toEqual({ without: [end, ''], pollsWithout: 0, hasPolled: true });
    expect(feeds).toEqual([end, expect.any(String)]);
  });

  it('shows contracts, and takes them along to the browser', async () => {
    expect(await printed(contractsScript)).toEqual({
      waiting: 'resolved, Buy &lt;milk&gt;',
      transferred: [['Buy <milk>']],
      openAfter: 0,
      notWaiting: 'loading',
      closed: expect.stringMatching(/^loadingThe ledger cannot be reached \(ECONNREFUSED\)\./),
      hasWaited: false,
      hasAddress: false,
    });
  });
});
