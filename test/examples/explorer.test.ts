import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import type { Sandbox, SandboxOptions } from '../../src/sandbox/index.js';
import { itInChromium } from '../helpers/inChromium.js';
import { sandboxes } from '../helpers/sandboxes.js';
import { installExplorer, serveExplorer } from './explorer/explorer.js';
import { offsetsOnScreen } from './explorer/offsetsOnScreen.js';

// an explorer that is installed and built already, while one works on these tests
const built = process.env['CANTON_RX_EXPLORER'];
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

let folder: string;
let printed: string;
let browser: Browser;
let context: BrowserContext;
const servers: Server[] = [];
const complaints: string[] = [];
const newSandbox = sandboxes();

beforeAll(async () => {
  ({ folder, printed } = built === undefined ? await installExplorer() : { folder: built, printed: '' });
  const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'];
  if (existsSync(executablePath)) browser = await chromium.launch({ executablePath, args });
}, 400_000);

afterEach(async () => {
  await context?.close();
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
  expect(complaints.splice(0)).toEqual([]);
});

afterAll(async () => {
  await browser?.close();
  if (built === undefined) await rm(folder, { recursive: true, force: true });
});

async function start(options: SandboxOptions = {}): Promise<{ sandbox: Sandbox; url: string }> {
  const sandbox = await newSandbox({ cors: true, ...options });
  const { server, url } = await serveExplorer(folder, sandbox);
  servers.push(server);
  context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  return { sandbox, url };
}

async function open(url: string): Promise<Page> {
  const page = await context.newPage();
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (message) => {
    // the browser itself tells of answers that are no good; those are what the tests are about
    const isNetwork = message.text().startsWith('Failed to load resource');
    if (['error', 'warning'].includes(message.type()) && !isNetwork) complaints.push(message.text());
  });
  await page.goto(url);
  return page;
}

const row = (page: Page, offset: number) => page.locator(`#row-${offset}`);
const offsetsOf = (sandbox: Sandbox): number[] =>
  sandbox.updates.map((update) => Object.values(update)[0]?.value.offset ?? 0).reverse();
const caughtUp = (page: Page) => page.getByRole('status').filter({ hasText: 'Caught up' }).waitFor();

/** Waits until the newest update is there, and gives all that can be scrolled to. */
async function shownAt(page: Page, sandbox: Sandbox): Promise<readonly number[]> {
  await row(page, sandbox.ledgerEnd).waitFor();
  return offsetsOnScreen(page);
}

async function makeKey(page: Page, algorithm = 'Ed25519'): Promise<void> {
  await page.getByRole('button', { name: 'Submit…' }).click();
  await page.getByLabel('Key', { exact: true }).selectOption(algorithm);
  await page.getByRole('button', { name: 'Make a key and host the party' }).click();
}

const submit = (page: Page) => page.getByRole('button', { name: 'Prepare, verify, sign and submit' }).click();
const stepsOf = (page: Page) => page.getByRole('log').first().locator('li > span').allInnerTexts();
const outcome = (page: Page, word: string) => page.getByRole('log').first().getByText(word, { exact: true }).waitFor();

describe('the explorer', () => {
  it('is built without a warning, and the library is a small part of it', async () => {
    expect(printed).not.toMatch(/WARNING|CommonJS/);
    const { outputs } = JSON.parse(await readFile(join(folder, 'dist', 'stats.json'), 'utf8')) as {
      outputs: Record<string, { bytes: number; entryPoint?: string; inputs: Record<string, { bytesInOutput: number }> }>;
    };
    const main = Object.values(outputs).find(({ entryPoint }) => entryPoint?.includes('main.ts'));
    const bytesOf = (name: string): number =>
      Object.entries(main?.inputs ?? {})
        .filter(([path]) => path.includes(`node_modules/${name}/`))
        .reduce((sum, [, { bytesInOutput }]) => sum + bytesInOutput, 0);
    const library = bytesOf('canton-rx');
    console.log(
      `main ${kB(main?.bytes ?? 0)}, of which canton-rx ${kB(library)}, io-ts and fp-ts ${kB(bytesOf('io-ts') + bytesOf('fp-ts'))}, ky ${kB(bytesOf('ky'))}`,
    );
    expect(library).toBeGreaterThan(10_000);
    expect(library).toBeLessThan(120_000);
  });

  itInChromium('shows the updates there are and those that come, the newest first', async () => {
    const { sandbox, url } = await start();
    sandbox.generate(120);
    const page = await open(url);
    await caughtUp(page);
    expect(await shownAt(page, sandbox)).toEqual(offsetsOf(sandbox));

    await page.getByRole('button', { name: /Newest/ }).click();
    sandbox.generate(5);
    await row(page, sandbox.ledgerEnd).waitFor();
    expect(await page.getByRole('row').first().getAttribute('id')).toBe(`row-${sandbox.ledgerEnd}`);
  });
});

const kB = (bytes: number): string => `${Math.round(bytes / 1_000)} kB`;
