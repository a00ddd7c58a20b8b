import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { findAccessibilityViolations } from '../../helpers/accessibility.js';
import { itInChromium, launchChromium } from '../../helpers/browser.js';
import { type HttpServer, httpServer } from '../../helpers/localServers.js';

const site = join(import.meta.dirname, '..', '..', '..', 'site');
if (!existsSync(join(site, 'index.html'))) throw new Error('there is no site: npm run docs first');

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
};
let server: HttpServer;
let browser: Browser | undefined;

beforeAll(async () => {
  server = await httpServer(({ url = '/' }, response) => {
    const path = new URL(url, 'http://site').pathname;
    readFile(join(site, decodeURIComponent(path))).then(
      (content) => response.setHeader('content-type', types[extname(path)] ?? 'application/octet-stream').end(content),
      // as hosts of static sites do
      async () => response.writeHead(404, { 'content-type': 'text/html' }).end(await readFile(join(site, '404.html'))),
    );
  });
  browser = await launchChromium();
});

afterAll(async () => {
  await browser?.close();
  await server.close();
});

const phone = { viewport: { width: 360, height: 780 }, hasTouch: true, isMobile: true };
const laptop = { viewport: { width: 1440, height: 900 } };

async function open(path: string, options: BrowserContextOptions = laptop): Promise<Page> {
  if (browser === undefined) throw new Error('there is no browser');
  const page = await browser.newPage({ ...options, permissions: ['clipboard-read', 'clipboard-write'] });
  page.setDefaultTimeout(60_000);
  await page.goto(`${server.url}/${path}`);
  await page.locator('.tsd-navigation a.current').first().waitFor({ state: 'attached' });
  return page;
}

/** Types a query as a reader does, and returns the pages that the site offers, the best first. */
async function search(page: Page, query: string): Promise<readonly string[]> {
  const results = page.locator('#tsd-search-results');
  await page.locator('#tsd-search-input').fill('');
  await page.waitForFunction("document.querySelector('#tsd-search-results').childElementCount === 0");
  await page.locator('#tsd-search-input').fill(query);
  await results.locator('li').first().waitFor();
  return results
    .locator('a')
    .evaluateAll((links) =>
      links.map((link) => (link.getAttribute('data-href') ?? '').replace(/^.*\/(\w+\/[^/]*)$/, '$1')),
    );
}

describe('the search of the site', () => {
  itInChromium('gives the words of the first line of code their colours, in both themes', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await open('index.html', { ...laptop, colorScheme });
      const words = page.locator('pre code').first().locator('span');
      const colourOf = (text: string): Promise<string> =>
        words
          .filter({ hasText: text })
          .first()
          .evaluate((word) => getComputedStyle(word).color);
      expect(new Set(await Promise.all(['import', '{ createLedger }', "'canton-rx'"].map(colourOf))).size).toBe(3);
      await page.close();
    }
  });

  itInChromium('finds the page for what a reader looks for: guides before names of the reference', async () => {
    const page = await open('index.html');
    await page.locator('#tsd-search-trigger').click();
    const found: Record<string, readonly string[]> = {};
    for (const query of Object.keys(wanted)) found[query] = await search(page, query);
    if (process.env['CANTON_RX_SEARCH'] !== undefined) console.log(found);
    const missed = Object.entries(wanted).filter(
      ([query, target]) =>
        !found[query]?.slice(0, target.startsWith('documents/') ? 4 : 1).includes(target) ||
        !found[query][0]?.startsWith(target.slice(0, 4)),
    );
    expect(missed.map(([query, target]) => ({ query, target, found: found[query] }))).toEqual([]);
    await page.close();
  });
});

describe('the results of the search', () => {
  itInChromium('show the words around what was typed, and are chosen with the keyboard', async () => {
    const page = await open('index.html');
    await page.keyboard.press('/');
    await search(page, 'pruned');
    const excerpt = page.locator('#tsd-search-results .site-excerpt', { hasText: /pruned/i });
    await excerpt.first().waitFor();
    const [first] = await search(page, 'back-pressure');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`${first ?? ''}$`));
    await page.close();
  });
});

describe('the runbook', () => {
  itInChromium('has an anchor on each row of a table, and prints without menus', async () => {
    const page = await open('documents/Runbook.html');
    const rows = page.locator('main tbody tr');
    expect(await page.locator('main tbody tr[id] .site-row').count()).toBe(await rows.count());
    await page.emulateMedia({ media: 'print' });
    for (const hidden of ['header.tsd-page-toolbar', '.site-menu', 'pre > button'])
      expect([hidden, await page.locator(hidden).first().isVisible()]).toEqual([hidden, false]);
    await page.close();
  });
});

describe('an address without a page', () => {
  itInChromium.each(['documents/Nothing.html', 'functions/a.html', 'nothing'])(
    'says so, and offers the search: %s',
    async (path) => {
      const page = await open('index.html');
      const answer = await page.goto(`${server.url}/${path}`);
      expect(answer?.status()).toBe(404);
      await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
      expect(await page.locator('.title').evaluate((title) => getComputedStyle(title).textDecorationLine)).toBe('none');
      expect([path, ...(await findAccessibilityViolations(page))]).toEqual([path]);
      await page.locator('#tsd-search-trigger').click();
      expect(await search(page, 'createLedger')).toContain('functions/canton-rx.createLedger.html');
      await page.locator('#tsd-search-results a[data-href*="canton-rx.createLedger"]').first().click();
      await page
        .getByRole('heading', { name: /createLedger/ })
        .first()
        .waitFor();
      await page.close();
    },
  );
});

describe('the files for programs', () => {
  it('list each guide with its questions, and have all guides as one text', async () => {
    const list = await readFile(join(site, 'llms.txt'), 'utf8');
    const links = [...list.matchAll(/^- \[[^\]]+\]\(([^)]+)\)(?:: .+\?)?$/gm)].map(([, path = '']) => path);
    expect(links.length).toBeGreaterThan(25);
    expect(links.filter((path) => !existsSync(join(site, path)))).toEqual([]);
    const all = await readFile(join(site, 'llms-full.txt'), 'utf8');
    for (const title of ['# canton-rx', '# Getting started', '# For coding assistants', '# Runbook'])
      expect(all).toContain(`\n${title}\n`.slice(title === '# canton-rx' ? 1 : 0));
  });
});

/** Queries, and what is among the first four results: the first is a guide, or the name if the query is one. */
const wanted: Readonly<Record<string, string>> = {
  'exactly once': 'documents/Building_a_service.html#exactly-once-with-postgresql',
  'back-pressure': 'documents/The_feed.html#back-pressure',
  backpressure: 'documents/The_feed.html#back-pressure',
  pruned: 'documents/Resuming.html#pruned-ledgers',
  retry: 'documents/The_feed.html#retry-reconnect-and-gaps',
  token: 'documents/Getting_started.html#token',
  cursor: 'documents/Resuming.html',
  reconnect: 'documents/The_feed.html#retry-reconnect-and-gaps',
  'angular signals': 'documents/Signals_in_Angular.html#signals',
  contracts: 'documents/Contracts.html',
  postgres: 'documents/Contracts_in_SQL.html',
  sandbox: 'documents/Testing.html#the-sandbox',
  sign: 'documents/External_parties.html#sign',
  createLedger: 'functions/canton-rx.createLedger.html',
  RetryPolicy: 'interfaces/canton-rx.RetryPolicy.html',
  retryContention: 'functions/canton-rx.retryContention.html',
  OutcomeUnknownError: 'classes/canton-rx.OutcomeUnknownError.html',
};

const [home, guide, reference] = ['index.html', 'documents/Angular.html', 'functions/canton-rx.createLedger.html'];

describe.each([
  { device: 'a laptop', options: laptop },
  { device: 'a phone', options: phone },
])('on $device', ({ options }) => {
  itInChromium.each(['light', 'dark'] as const)(
    'is accessible in the %s theme, and as wide as the screen',
    async (theme) => {
      const page = await open(home, options);
      await page.getByLabel('Theme').selectOption(theme);
      for (const path of [home, guide, reference, 'classes/canton-rx.OutcomeUnknownError.html']) {
        await page.goto(`${server.url}/${path}`);
        await page.locator('.tsd-navigation a.current').first().waitFor({ state: 'attached' });
        expect(await page.locator('html').getAttribute('data-theme')).toBe(theme);
        expect([path, ...(await findAccessibilityViolations(page))]).toEqual([path]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(options.viewport.width);
      }
      await page.locator('#tsd-search-trigger').click();
      await search(page, 'retry');
      expect(['found', ...(await findAccessibilityViolations(page))]).toEqual(['found']);
      await page.locator('#tsd-search-results a[data-href*="The_feed.html#retry"]').click();
      await page.waitForURL(/documents\/The_feed.html#retry/);
      await page.close();
    },
  );
});

describe('a page of the site', () => {
  itInChromium('shows a laptop code of 100 characters whole, and its navigation to the full height', async () => {
    const page = await open(guide);
    const code = page.locator('pre code').first();
    const [room, width] = await code.evaluate((element) => {
      element.textContent = 'x'.repeat(100);
      return [element.clientWidth, element.scrollWidth];
    });
    expect(width).toBe(room);
    const box = await page.locator('.site-menu').boundingBox();
    const header = await page.locator('header').boundingBox();
    expect(box?.y).toBe(header?.height);
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBe(laptop.viewport.height);
    await page.close();
  });

  itInChromium('copies code at a tap, with a button that is always seen', async () => {
    const page = await open(guide, phone);
    const block = page.locator('pre', { hasText: 'provideLedger({' }).first();
    expect(await block.locator('button').evaluate((button) => getComputedStyle(button).opacity)).toBe('1');
    await block.locator('button').tap();
    await block.getByText('Copied!').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      await block.locator('code').evaluate((code) => (code as HTMLElement).innerText.trim()),
    );
    await page.close();
  });

  itInChromium('shows the picture of its theme on the home page', async () => {
    const page = await open(home);
    for (const theme of ['light', 'dark']) {
      await page.getByLabel('Theme').selectOption(theme);
      expect(await page.locator('.site-home img:visible').getAttribute('src')).toContain(`explorer-${theme}.png`);
    }
    await page.close();
  });
});
