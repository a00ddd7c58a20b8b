import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { itInChromium, launchChromium } from '../../helpers/browser.js';
import { httpServer, type HttpServer } from '../../helpers/localServers.js';
import { until } from '../../helpers/servers.js';
import { compile, emptyProject, forBundler } from './examples.js';
import { type Logins, startLogins } from './logins.js';

const root = join(import.meta.dirname, '..', '..', '..');
// the second session.ts, of the login service, replaces the first one
const guide = ['react-submitting.md', 'angular-submitting.md', 'sessions.md']
  .map((name) => readFileSync(join(root, 'docs', name), 'utf8'))
  .join('\n');

/** What the guide leaves to the reader: a component with two views. */
const components = (party: string): Readonly<Record<string, string>> => ({
  'src/types.ts': `
import { contractType } from 'canton-rx';
import * as t from 'io-ts';
const asset = contractType('#sandbox-assets:Main:Asset', t.type({ owner: t.string }));
export const all = { types: { asset }, parties: 'any' } as const;
export const mine = { types: { asset }, parties: ['${party}'] } as const;`,
  'src/App.tsx': `
import { useContracts } from 'canton-rx/react';
import { all, mine } from './types';
export default function App() {
  const [first, second] = [useContracts(all), useContracts(mine)];
  return <p>{first.status} {first.contracts.length}, {second.status} {second.contracts.length}</p>;
}`,
  'src/app/tasks.ts': `
import { Component } from '@angular/core';
import { injectContracts } from 'canton-rx/angular';
import { all, mine } from '../types';
@Component({
  selector: 'app-tasks',
  template: '<p>{{ first.status() }} {{ first.value().length }}, {{ second.status() }} {{ second.value().length }}</p>',
})
export class Tasks {
  readonly first = injectContracts(all);
  readonly second = injectContracts(mine);
}`,
  // without Angular's own build, its compiler is loaded
  'src/angular.ts': `import '@angular/compiler';\nimport './main.js';`,
});

/** The applications: their main file, and the element that they show themselves in. */
const applications = {
  React: { main: 'main.tsx', tag: '<div id="root"></div>' },
  Angular: { main: 'angular.ts', tag: '<app-root></app-root>' },
};
type Framework = keyof typeof applications;
const frameworks = Object.keys(applications) as Framework[];

let folder: string;
let logins: Logins;
let browser: Browser | undefined;
const scripts = new Map<Framework, string | undefined>();
const servers = new Map<Framework, HttpServer>();
beforeAll(async () => {
  folder = emptyProject(root, 'sessions');
  for (const framework of frameworks) servers.set(framework, await serve(framework));
  logins = await startLogins([...servers.values()].map(({ url }) => url));
  const blocks = [...guide.matchAll(/^```(?:tsx|typescript)\n(\/\/ (src\/\S+)\n.*?)^```$/gms)];
  const files = blocks.map(([, code = '', name = '']) => [name, logins.replaceAddresses(code)] as const);
  for (const [name, code] of [...files, ...Object.entries(components(logins.party))]) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), code);
  }
  for (const framework of frameworks) scripts.set(framework, await bundle(framework));
  browser = await launchChromium();
}, 60_000);
afterAll(async () => {
  await browser?.close();
  for (const server of servers.values()) await server.close();
  await logins.close();
});

async function bundle(framework: Framework): Promise<string | undefined> {
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'src', applications[framework].main)],
    ...{ bundle: true, write: false, format: 'esm', platform: 'browser', target: 'es2022', logLevel: 'silent' },
    jsx: 'automatic',
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true, useDefineForClassFields: false } },
  });
  return outputFiles[0]?.text;
}

function serve(framework: Framework): Promise<HttpServer> {
  const { tag } = applications[framework];
  const html = `<!doctype html><html lang="en"><title>${framework}</title>${tag}<script type="module" src="/page.js"></script>`;
  return httpServer(({ url }, response) => {
    if (url === '/page.js') response.setHeader('content-type', 'text/javascript').end(scripts.get(framework));
    else response.setHeader('content-type', 'text/html').end(html);
  });
}

/** Waits until a page shows some buttons and paragraphs, and no others. */
async function shows(page: Page, expected: string): Promise<void> {
  let text: unknown;
  await until(async () => (text = await page.evaluate('textOf()')) === expected, 20_000).catch(() => {
    expect(text).toBe(expected);
  });
}

/** Keeps every text that the page shows, in `globalThis.shown`. */
const watch = `
globalThis.shown = [];
globalThis.textOf = () => [...document.querySelectorAll('button, p')].map((e) => e.textContent).filter(Boolean).join(' | ');
addEventListener('DOMContentLoaded', () => {
  new MutationObserver(() => shown.push(textOf())).observe(document, { childList: true, subtree: true, characterData: true });
});`;

/** Applies a change to the stored users of the page, and returns the number of users. */
const changeUsers = (change: string): string => `new Promise((resolve, reject) => {
  const opening = indexedDB.open('login', 1);
  opening.onsuccess = () => {
    const users = opening.result.transaction('users', 'readwrite').objectStore('users');
    const reading = users.openCursor();
    let count = 0;
    reading.onsuccess = () => {
      const cursor = reading.result;
      if (cursor === null) return resolve(count);
      count += 1;
      const user = JSON.parse(cursor.value);
      ${change}
      cursor.continue();
    };
  };
  opening.onerror = reject;
})`;

/** Lets the tokens of the page end: their time is over by the clock of the browser. */
const endTokens = changeUsers('cursor.update(JSON.stringify({ ...user, expires_at: 1 }));');

/** Opens a popup of the login service. */
async function openLogin(page: Page): Promise<Page> {
  const opened = page.waitForEvent('popup');
  await page.getByRole('button', { name: 'Sign in' }).click();
  return opened;
}

/** Answers the login service, whose popup then closes. */
async function answer(popup: Page, login?: string): Promise<void> {
  const closed = popup.waitForEvent('close');
  if (login !== undefined) {
    await popup.locator('[name=login]').fill(login);
    await popup.locator('[name=password]').fill('secret');
    await popup.getByRole('button', { name: 'Sign-in' }).click();
  }
  await popup.getByRole('button', { name: 'Continue' }).click();
  await closed;
}

const storedUsers = (page: Page): Promise<number> => page.evaluate(changeUsers(''));

describe('the login of the guide', () => {
  it('compiles in a strict application', () => {
    const options = { ...forBundler, types: [], verbatimModuleSyntax: true, experimentalDecorators: true };
    const names = ['session.ts', 'Page.tsx', 'main.tsx', 'app/app.ts', 'app/app.config.ts', 'main.ts'];
    expect(
      compile(
        names.map((name) => join(folder, 'src', name)),
        options,
      ).flat(),
    ).toEqual([]);
  });

  itInChromium.each([
    { framework: 'React', live: 'live' },
    { framework: 'Angular', live: 'resolved' },
  ] as const)('serves all views of two tabs from login to logout: $framework', async ({ framework, live }) => {
    const context = await browser?.newContext();
    if (context === undefined) throw new Error('there is no browser');
    await context.addInitScript(watch);
    // the pages of the login service have a font of another site
    await context.route(/googleapis/, (route) => route.abort());
    const open = async (): Promise<Page> => {
      const page = await context.newPage();
      await page.goto(servers.get(framework)?.url ?? '');
      return page;
    };
    const count = (status: string): string => `Sign out | ${status} ${contracts}, ${status} ${contracts}`;
    let contracts = await logins.create();
    const create = async (): Promise<void> => {
      contracts = await logins.create();
    };
    try {
      // login, and a second tab without one
      logins.begin();
      const one = await open();
      await shows(one, 'Sign in');
      await answer(await openLogin(one), 'alice');
      await shows(one, count(live));
      const other = await open();
      await shows(other, count(live));

      // a token that ends: renewed once, and the screen stays
      const tabs = [one, other];
      const allShow = (text: string): Promise<unknown> => Promise.all(tabs.map((page) => shows(page, text)));
      await Promise.all(tabs.map((page) => page.evaluate('void (shown.length = 0)')));
      await one.evaluate(endTokens);
      await create();
      await allShow(count(live));
      await until(() => logins.grants.length > 1);
      await create();
      await allShow(count(live));
      expect([logins.grants, logins.refused]).toEqual([['authorization_code', 'refresh_token'], 0]);
      for (const page of tabs) {
        const texts = await page.evaluate<readonly string[]>('shown');
        expect(texts.filter((text) => !new RegExp(`^Sign out \\| ${live} \\d+, ${live} \\d+$`).test(text))).toEqual([]);
      }

      // a token that is refused: one login for all
      const before = count(live);
      await logins.revoke();
      await create();
      await allShow(`Your login is not valid | Sign in | ${before}`);
      const popup = await openLogin(one);
      const button = other.getByRole('button', { name: 'Sign in' });
      await until(() => button.isDisabled());
      await answer(popup);
      await allShow(count(live));
      expect(logins.grants.slice(2)).toEqual(['authorization_code']);

      // logout in all tabs, and at the login service
      await other.getByRole('button', { name: 'Sign out' }).click();
      await shows(one, 'Sign in');
      await other.getByRole('button', { name: 'Yes, sign me out' }).click();
      await shows(other, 'Sign in');
      expect(await storedUsers(one)).toBe(0);
      await create();
      const { requests } = logins;

      // a login that the user closes, and one that succeeds after the logout
      const closed = await openLogin(one);
      await closed.locator('[name=login]').waitFor();
      await closed.close();
      await shows(one, 'Sign in | That did not work.');
      expect(logins.requests).toBe(requests);
      await answer(await openLogin(one), 'bob');
      await allShow(count(live));

      // logout while the login service cannot be reached
      await context.route(`${logins.url}/**`, (route) => route.abort());
      await one.getByRole('button', { name: 'Sign out' }).click();
      await shows(other, 'Sign in');
      await until(async () => (await storedUsers(other)) === 0);
    } finally {
      await context.close();
    }
  });
});
