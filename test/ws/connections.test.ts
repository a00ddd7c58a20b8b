import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { itInChromium, launchChromium } from '../helpers/browser.js';
import { effort } from '../helpers/effort.js';
import { type HttpServer, httpServer } from '../helpers/localServers.js';

const [tabs, views, submissions] = [effort(8, 8, 4), 12, effort(30, 30, 10)];

let sandbox: Sandbox;
let server: HttpServer;
let browser: Browser | undefined;
beforeAll(async () => {
  sandbox = await startSandbox({ cors: true });
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'connectionsPage.ts')],
    ...{ bundle: true, write: false, format: 'esm', platform: 'browser', target: 'es2022', logLevel: 'silent' },
  });
  const [script] = outputFiles;
  server = await httpServer(({ url = '/' }, response) => {
    if (url.endsWith('.js')) response.setHeader('content-type', 'text/javascript').end(script?.text);
    else
      response
        .setHeader('content-type', 'text/html')
        .end('<!doctype html><title>tab</title><script type="module" src="/page.js"></script>');
  });
  browser = await launchChromium();
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await server.close();
  await sandbox.close();
});

/** Opens tabs of one browser, and returns how long a submission takes in the last of them: the median, in milliseconds. */
async function submitAmong(count: number, viewsOfEach: number, isTogether = false): Promise<number> {
  const context = await browser?.newContext();
  if (context === undefined) throw new Error('there is no browser');
  try {
    const hash = encodeURIComponent(
      JSON.stringify({ url: sandbox.url, party: sandbox.hostedParty('alice'), views: viewsOfEach, isTogether }),
    );
    const pages: Page[] = [];
    for (let index = 0; index < count; index++) {
      const page = await context.newPage();
      page.setDefaultTimeout(100_000);
      await page.goto(`${server.url}/#${hash}`);
      await page.waitForFunction('globalThis.ready');
      pages.push(page);
    }
    const times: number[] = [];
    for (let index = 0; index < submissions; index++) {
      const took = await pages.at(-1)?.evaluate<number>(`submit('${index}')`);
      times.push(took ?? Infinity);
    }
    return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? Infinity;
  } finally {
    await context.close();
  }
}

describe('a submission over HTTP/1.1 with WebSockets for the views', () => {
  itInChromium(
    `does not wait for the requests of ${tabs} tabs with ${views} views each`,
    async () => {
      const alone = await submitAmong(1, 0);
      const among = await submitAmong(tabs, views);
      console.log(`alone ${alone.toFixed(1)} ms, among ${tabs} tabs ${among.toFixed(1)} ms`);
      // a poll holds one of the six connections of the browser for seconds
      expect(among).toBeLessThan(1_000);
    },
    300_000,
  );

  itInChromium(
    'takes less time if the views of each tab are read together, by one snapshot and one socket for each tab',
    async () => {
      const alone = await submitAmong(1, views);
      const apart = await submitAmong(tabs, views);
      const before = sandbox.requests.length;
      const together = await submitAmong(tabs, views, true);
      const requests = sandbox.requests.slice(before);
      console.log(
        `${views} views: one tab ${alone.toFixed(1)} ms, ${tabs} tabs ${apart.toFixed(1)} ms, together ${together.toFixed(1)} ms`,
      );
      expect(
        requests.filter(({ method, path }) => method === 'POST' && path.includes('active-contracts')),
      ).toHaveLength(tabs);
      // an upgrade is a GET
      const sockets = requests.filter(({ method, path }) => method === 'GET' && path.includes('/v2/updates'));
      expect(sockets).toHaveLength(tabs);
      expect(together).toBeLessThan(1_000);
    },
    300_000,
  );
});
