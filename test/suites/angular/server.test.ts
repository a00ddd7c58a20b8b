import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { project, type Project } from '../package/project.js';

/** The newest version of which the package for servers is published. */
const angular = ['core', 'common', 'compiler', 'platform-browser', 'platform-server'].map(
  (name) => `@angular/${name}@21.2.24`,
);

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
  while (polls().some(({ status, aborted }) => status === undefined && !aborted)) await new Promise(setImmediate);
  const pollsWith = polls().length;
  await new Promise((resolve) => setTimeout(resolve, 300));
  console.log(JSON.stringify({
    end: String(sandbox.ledgerEnd), without, pollsWithout, feeds, hasPolled: pollsWith > 0,
    continues: polls().length > pollsWith,
  }));
  await sandbox.close();`;

let consumer: Project;
beforeAll(async () => {
  consumer = await project();
  await consumer.run('npm', 'install', '--ignore-scripts', '--prefer-offline', ...angular);
}, 400_000);
afterAll(() => consumer.remove(), 60_000);

describe('a page that is rendered on a server', () => {
  it('shows the answers of single requests, reads feeds only with withServerFeeds, and ends them', async () => {
    await consumer.write('render.mjs', script);
    const { stdout } = await consumer.run('node', 'render.mjs');
    const { end, feeds, ...seen } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
    expect(seen).toEqual({ without: [end, ''], pollsWithout: 0, hasPolled: true, continues: false });
    expect(feeds).toEqual([end, expect.any(String)]);
  });
});
