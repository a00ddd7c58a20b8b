import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { findAccessibilityViolations } from '../helpers/accessibility.js';
import { itInChromium, launchChromium } from '../helpers/browser.js';
import { httpServer, type HttpServer } from '../helpers/localServers.js';
import { until } from '../helpers/servers.js';

const token = 'a-secret-token';
const image = '<img src=x onerror=alert(1)>';

let sandbox: Sandbox;
let server: HttpServer;
let browser: Browser | undefined;
beforeAll(async () => {
  sandbox = await startSandbox({ cors: true });
  sandbox.generate(30);
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'page.ts')],
    ...{ bundle: true, write: false, format: 'esm', platform: 'browser', target: 'es2022', logLevel: 'silent' },
  });
  const head = '<meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>app</title>';
  const main = '<main><h1>App</h1></main><script type="module" src="/page.js"></script>';
  server = await httpServer(({ url }, response) => {
    if (url === '/page.js') response.setHeader('content-type', 'text/javascript').end(outputFiles[0]?.text);
    else response.setHeader('content-type', 'text/html').end(`<!doctype html><html lang="en">${head}${main}`);
  });
  browser = await launchChromium();
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await server.close();
  await sandbox.close();
});

const rowsOf = (page: Page): Promise<readonly string[]> =>
  page
    .locator('tbody tr')
    .evaluateAll((rows) => rows.map((row) => [...row.children].map(({ textContent }) => textContent).join(' ')));

/** Waits until a row of the panel matches. */
async function shows(page: Page, row: RegExp): Promise<void> {
  let rows: readonly string[] = [];
  const isShown = async () => (rows = await rowsOf(page)).some((text) => row.test(text));
  await until(isShown, 30_000).catch(() => {
    expect(rows).toEqual(expect.arrayContaining([expect.stringMatching(row)]));
  });
}

describe('the panel', () => {
  itInChromium(
    'shows views, submissions and errors as text, without a token, in both themes and by keyboard',
    async () => {
      const page = await browser?.newPage();
      if (page === undefined) throw new Error('there is no browser');
      const alerts: string[] = [];
      page.on('dialog', (dialog) => {
        alerts.push(dialog.message());
        void dialog.dismiss();
      });
      const world = { url: sandbox.url, party: sandbox.hostedParty('alice'), token };
      await page.goto(`${server.url}/#${encodeURIComponent(JSON.stringify(world))}`);
      await page.waitForFunction('globalThis.ready');
      await shows(page, /^feed \d+ view live \d+ 0 /);
      await page.evaluate("submit('c-1')");
      await shows(page, / committed 1 \d+ \d/);
      await page.evaluate(`report(${JSON.stringify(image)})`);
      await shows(page, /^<img .*> failed 0 /);
      await shows(page, /^<img .*> processor failed /);
      await shows(page, / Error: <img .*> 1$/);
      await page.evaluate("submit('c-2', 'nobody::1220ab')");
      await shows(page, / failed 1 {2}\d/);
      await shows(page, /^\d.* SubmissionRejectedError: .*nobody/);
      await shows(page, /^feed \d+ view live \d+ 0 /);

      const html = await page.evaluate<string>("document.querySelector('body > div').shadowRoot.innerHTML");
      expect(html).not.toContain(token);
      expect([await page.locator('img').count(), alerts]).toEqual([0, []]);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await findAccessibilityViolations(page)).toEqual([]);
        const folder = process.env['CANTON_RX_SCREENSHOTS'];
        if (folder !== undefined) await page.screenshot({ path: join(folder, `devtools-${colorScheme}.png`) });
      }

      // the button is first, then the tables, each with its heading
      await page.keyboard.press('Tab');
      await page.evaluate('endView()');
      await shows(page, /^feed \d+ view unsubscribed /);
      await page.keyboard.press('Enter');
      await until(async () => (await rowsOf(page)).length === 0);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      expect(await page.locator('details').evaluateAll((all) => all.map((one) => one.hasAttribute('open')))).toEqual([
        false,
        true,
        true,
      ]);
      await page.evaluate('close()');
      expect(await page.locator('body > div').count()).toBe(0);
    },
  );
});
