import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { project, type Project } from '../package/project.js';

/** The newest of which the package for servers was published. */
const angular = ['core', 'common', 'compiler', 'platform-browser', 'platform-server'].map(
  (name) => `@angular/${name}@21.2.24`,
);

/** Renders a page that shows the end of a ledger, and the newest update of a feed. */
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
  const asked = () => sandbox.requests.filter(({ path }) => path.includes('updates'));
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
  const askedWithout = asked().length;
  const feeds = await render(withServerFeeds());
  while (asked().some(({ status, aborted }) => status === undefined && !aborted)) await new Promise(setImmediate);
  const askedWith = asked().length;
  await new Promise((resolve) => setTimeout(resolve, 300));
  console.log(JSON.stringify({
    end: String(sandbox.ledgerEnd), without, askedWithout, feeds, hasAsked: askedWith > 0, goesOn: asked().length > askedWith,
  }));
  await sandbox.close();`;

let user: Project;
beforeAll(async () => {
  user = await project();
  await user.run('npm', 'install', '--ignore-scripts', '--prefer-offline', ...angular);
}, 400_000);
afterAll(() => user.remove(), 60_000);

describe('a page that is rendered on a server', () => {
  it('shows what answers once, reads no feed unless asked to, and leaves none behind', async () => {
    await user.write('render.mjs', script);
    const { stdout } = await user.run('node', 'render.mjs');
    const { end, feeds, ...seen } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
    expect(seen).toEqual({ without: [end, ''], askedWithout: 0, hasAsked: true, goesOn: false });
    expect(feeds).toEqual([end, expect.any(String)]);
  });
});
