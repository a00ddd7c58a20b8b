import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import type { Sandbox } from '../../../../src/sandbox/index.js';

const docs = join(import.meta.dirname, '..', '..', '..', '..', 'docs');
const images = join(docs, 'images');

/** The pictures of the documentation: a submission whose answer was lost, an update in full, and a phone. */
export async function takeScreenshots(browser: Browser, sandbox: Sandbox, url: string): Promise<void> {
  await mkdir(images, { recursive: true });
  sandbox.generate(2_400);
  let owed = 0;
  const traffic = setInterval(() => {
    // in waves, as traffic is
    owed += 0.5 + 0.4 * Math.sin(Date.now() / 4_000) + 0.3 * Math.random();
    sandbox.generate(Math.floor(owed));
    owed %= 1;
  }, 100);
  try {
    await Promise.all([light(browser, url), dark(browser, url), phone(browser, url)]);
  } finally {
    clearInterval(traffic);
  }
}

const desktop = { viewport: { width: 1360, height: 844 } };

/** The first minute is for the chart. */
const settled = () => wait(60_000);

async function light(browser: Browser, url: string): Promise<void> {
  const page = await browser.newPage({ ...desktop, colorScheme: 'light' });
  await page.goto(url);
  await settled();
  await page.getByRole('button', { name: 'Submit…' }).click();
  await page.getByRole('button', { name: 'Make a key and host the party' }).click();
  await page.getByRole('button', { name: 'Lose the next answer' }).click();
  await page.getByRole('button', { name: 'Will lose the next answer' }).waitFor();
  await page.getByRole('button', { name: 'Prepare, verify, sign and submit' }).click();
  await page.getByText('Committed at').waitFor();
  await wait(700);
  await page.screenshot({ path: join(images, 'explorer-light.png') });
  await page.close();
}

async function dark(browser: Browser, url: string): Promise<void> {
  const page = await browser.newPage({ ...desktop, colorScheme: 'dark' });
  await page.goto(url);
  await settled();
  await showTransfer(page);
  await page.screenshot({ path: join(images, 'explorer-dark.png') });
  await page.close();
}

async function phone(browser: Browser, url: string): Promise<void> {
  const page = await browser.newPage({
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 2,
    hasTouch: true,
    colorScheme: 'light',
  });
  await page.goto(url);
  await settled();
  await page.screenshot({ path: join(images, 'explorer-phone.png') });
  await page.close();
}

async function showTransfer(page: Page): Promise<void> {
  await page
    .getByRole('row')
    .filter({ hasText: /Asset\.Transfer/ })
    .first()
    .click();
  await page.getByText('Update id').waitFor();
  await wait(1_500);
}
