import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { findAccessibilityViolations } from '../../helpers/accessibility.js';
import { itInChromium, launchChromium } from '../../helpers/browser.js';
import { eventually, until } from '../../helpers/time.js';

const root = join(import.meta.dirname, '..', '..', '..');
/** A folder with the examples, installed and built already. */
const examples = process.env['CANTON_RX_EXAMPLES'];
let folder: string;
let server: ChildProcess;
let address: string;
/** The page with the contracts of one user, from a server. */
let addressOfUser: string | undefined;
let browser: Browser | undefined;

beforeAll(async () => {
  folder = examples === undefined ? await mkdtemp(join(tmpdir(), 'canton-rx-react-')) : join(examples, 'react');
  const script = join(root, 'docs', 'examples', 'install.mjs');
  if (examples === undefined) await promisify(execFile)(process.execPath, [script, 'react', folder], { cwd: root });
  const env = { ...process.env, PORT: '0', SANDBOX_PORT: '0' };
  server = spawn(process.execPath, ['start.mjs'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  if (server.stdout === null) throw new Error('no output');
  for await (const line of createInterface(server.stdout)) {
    addressOfUser ??= /^the contracts of a user: (\S+)/.exec(line)?.[1];
    address = /http:\S+(?=;)/.exec(line)?.[0] ?? '';
    if (address !== '') break;
  }
  browser = await launchChromium();
}, 400_000);

afterAll(async () => {
  await browser?.close();
  if (server.exitCode === null) {
    server.kill();
    await once(server, 'exit');
  }
  if (examples === undefined) await rm(folder, { recursive: true, force: true });
});

/** Opens the page, and collects what it complains about. */
async function open(url = address) {
  const page = await browser?.newPage();
  if (page === undefined) throw new Error('there is no browser');
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', ({ message }) => complaints.push(message));
  await page.goto(url);
  await page.locator('table.live').waitFor();
  // the table has only the rows that are visible
  const count = async () => parseInt((await page.locator('#count').innerText()).replace(',', ''), 10);
  return { page, complaints, count };
}

describe('the React example', () => {
  itInChromium('shows the tasks of one user by the same components, when a server sends them', async () => {
    const { page, complaints, count } = await open(addressOfUser);
    const requests: string[] = [];
    page.on('request', (request) => requests.push(new URL(request.url()).pathname));
    expect(await count()).toBe(0);
    await page.getByText('No tasks yet. New ones appear here.').waitFor();
    for (const title of ['Sweep', 'Polish']) {
      await page.getByLabel('New task').fill(title);
      await page.getByRole('button', { name: 'Create' }).click();
      await page.getByRole('row', { name: title }).waitFor();
    }
    await page.getByLabel('Filter').fill('sw');
    await eventually(() => page.locator('#count').innerText(), '1 task');
    expect(requests).toContain('/v2/commands/submit-and-wait-for-transaction');
    // the first submission reads the start of the ledger
    expect(requests.filter((path) => /updates|active-contracts/.test(path))).toEqual(['/v2/updates/flats']);
    expect(complaints).toEqual([]);
    await page.goto('about:blank');
    await page.goto(String(addressOfUser).replace(/#.*/, '#another'));
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    await page.close();
  });

  itInChromium('shows a live table, filters it, and creates one task for a double click', async () => {
    const { page, complaints, count } = await open();
    const before = await count();
    expect(before).toBeGreaterThan(5);
    // traffic
    await until(async () => (await count()) !== before);
    await page.getByLabel('New task').fill('Water the plants');
    await page.getByRole('button', { name: 'Create' }).dblclick();
    const mine = page.getByRole('row', { name: 'Water the plants' });
    await page.getByText(/Created at offset \d+/).waitFor();
    // the row is shown together with the outcome
    expect(await mine.count()).toBe(1);
    await page.getByLabel('Filter').fill('water the');
    await eventually(() => page.locator('#count').innerText(), '1 task');
    await page.getByLabel('Filter').fill('nothing has this');
    await page.getByText('No task matches.').waitFor();
    await page.getByLabel('Filter').fill('');
    await until(async () => (await count()) > 5);
    expect(complaints).toEqual([]);
    await page.close();
  });

  itInChromium('fits each screen without a violation of accessibility, with as few rows as are visible', async () => {
    const { page, count } = await open();
    for (const width of [320, 768, 1440]) {
      await page.setViewportSize({ width, height: 600 });
      await until(async () => (await page.locator('tr.task').count()) < 40);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await findAccessibilityViolations(page)).toEqual([]);
      }
    }
    expect(await count()).toBeGreaterThan(40);
    await page.getByRole('region', { name: 'Tasks' }).focus();
    await page.keyboard.press('End');
    await page.locator(`tr[aria-rowindex="${(await count()) + 1}"]`).waitFor();
    await page.close();
  });

  itInChromium('says that the ledger cannot be reached, and keeps the table as a stale one', async () => {
    const { page, count } = await open();
    const before = await count();
    await page.route('**/v2/**', (route) => route.abort());
    await page.getByRole('alert').getByText('The ledger cannot be reached at the moment.').waitFor();
    await page.getByText('The table may be out of date since').waitFor();
    await page.locator('table.stale').waitFor();
    expect(await count()).toBeGreaterThanOrEqual(before);
    await page.unroute('**/v2/**');
    await page.locator('table.live').waitFor();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.close();
  });
});
