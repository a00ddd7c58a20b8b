import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { type Browser, chromium, type Page } from 'playwright-core';
import { itInChromium } from '../../helpers/browser.js';
import { type HttpServer, httpServer } from '../../helpers/localServers.js';

const site = join(import.meta.dirname, '..', '..', '..', 'site');
if (!existsSync(join(site, 'index.html'))) throw new Error('there is no site: npm run docs first');

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
};
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
let server: HttpServer;
let browser: Browser | undefined;

beforeAll(async () => {
  server = await httpServer(({ url = '/' }, response) => {
    const path = new URL(url, 'http://site').pathname;
    readFile(join(site, decodeURIComponent(path))).then(
      (content) => response.setHeader('content-type', types[extname(path)] ?? 'application/octet-stream').end(content),
      () => response.writeHead(404).end(),
    );
  });
  if (existsSync(executablePath))
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--no-first-run'] });
});

afterAll(async () => {
  await browser?.close();
  await server.close();
});

async function open(path: string, width = 1280): Promise<Page> {
  if (browser === undefined) throw new Error('there is no browser');
  const page = await browser.newPage({ viewport: { width, height: 844 } });
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
    .evaluateAll((links) => links.map((link) => (link.getAttribute('href') ?? '').replace(/^.*\/(\w+\/[^/]*)$/, '$1')));
}

describe('the search of the site', () => {
  itInChromium('finds the page for what a reader looks for', async () => {
    const page = await open('index.html');
    await page.locator('#tsd-search-trigger').click();
    const found: Record<string, readonly string[]> = {};
    for (const query of Object.keys(wanted)) found[query] = await search(page, query);
    if (process.env['CANTON_RX_SEARCH'] !== undefined) console.log(found);
    const missed = Object.entries(wanted).filter(([query, target]) => !found[query]?.slice(0, 6).includes(target));
    expect(missed.map(([query, target]) => ({ query, target, found: found[query] }))).toEqual([]);
    await page.close();
  });
});

/** Queries, and what is among the first six results. */
const wanted: Readonly<Record<string, string>> = {
  'exactly once': 'documents/Building_a_service.html#exactly-once-with-postgresql',
  'back-pressure': 'documents/The_feed.html#back-pressure',
  backpressure: 'documents/The_feed.html#back-pressure',
  pruned: 'documents/Resuming.html#pruned-ledgers',
  retry: 'documents/The_feed.html#retry-reconnect-and-gaps',
  token: 'documents/Getting_started.html#token',
  cursor: 'documents/Resuming.html',
  reconnect: 'documents/The_feed.html#retry-reconnect-and-gaps',
  'angular signals': 'documents/Angular.html#signals',
  postgres: 'documents/Contracts_in_SQL.html',
  sign: 'documents/Submitting.html#sign',
  createLedger: 'functions/canton-rx.createLedger.html',
};

describe('a page of the site', () => {
  const pages = ['index.html', 'documents/Guarantees.html', 'documents/NestJS.html', 'modules/canton-rx.html'];
  itInChromium.each(pages)('%s fits a phone: tables and code scroll by themselves', async (path) => {
    const page = await open(path, 390);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await page.close();
  });
});
