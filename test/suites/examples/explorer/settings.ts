import { describe, expect } from '@jest/globals';
import type { SandboxOptions } from '../../../../src/sandbox/index.js';
import { itInChromium } from '../../../helpers/browser.js';
import { eventually } from '../../../helpers/time.js';
import {
  caughtUp,
  connectTo,
  cutOff,
  enterLedger,
  expectShown,
  hold,
  newPage,
  offsetsOf,
  open,
  openExplorer,
  press,
  start,
  waitForStatus,
} from './explorer.js';

/** Tests of the explorer's theme, its form of connections, and the sandbox's traffic. */
describe('the settings', () => {
  itInChromium('is light or dark like the system, until the user chooses', async () => {
    const { page } = await openExplorer();
    const isDark = async (): Promise<boolean> => {
      const colour = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
      return Number(/\d+/.exec(colour)?.[0]) < 128;
    };
    await eventually(isDark, false);
    await page.emulateMedia({ colorScheme: 'dark' });
    await eventually(isDark, true);
    await press(page, 'Theme: auto');
    await page.getByRole('button', { name: 'Theme: light' }).waitFor();
    await eventually(isDark, false);
    await page.reload();
    await page.getByRole('button', { name: 'Theme: light' }).waitFor();
    await eventually(isDark, false);
  });

  itInChromium('explores any participant, and keeps its token only in memory', async () => {
    const token = 'canary-of-a-token';
    const { sandbox, page } = await openForm(30, { checkToken: (given) => given === token });
    await enterLedger(page, sandbox.url, { token: 'another' });
    await waitForStatus(page, 'Stopped');
    await press(page, sandbox.url.slice('http://'.length));
    await enterLedger(page, sandbox.url, { token });
    await expectShown(page, offsetsOf(sandbox));
    expect(await page.getByRole('region', { name: 'Sandbox' }).count()).toBe(0);

    const kept = await page.evaluate(() =>
      JSON.stringify([Object.entries(sessionStorage), Object.entries(localStorage), location.href]),
    );
    expect(kept).toContain(sandbox.url);
    expect(kept).not.toContain(token);
    await page.reload();
    await waitForStatus(page, 'Stopped');
  });

  itInChromium('shows what the client does, beside the connection', async () => {
    const { sandbox, page } = await openExplorer(30);
    await page.getByTitle('Connection').click();
    await press(page, 'What the client does');
    await page.getByRole('heading', { name: 'Activity of the client' }).waitFor();
    sandbox.generate(1);
    // a feed that has received since then
    const panel = page.getByRole('region', { name: 'Ledger', exact: true });
    await panel.getByRole('cell', { name: 'processor' }).waitFor();
    await press(page, 'Back to Connection');
    await page.getByLabel('Address of the JSON Ledger API').waitFor();
    expect(await panel.count()).toBe(0);
  });

  itInChromium('opens the same ledger after a reload, also one of this machine', async () => {
    const other = await start({}, () => ({}));
    other.sandbox.generate(40);
    const { page } = await openExplorer();
    await connectTo(page, other.sandbox.url);
    await expectShown(page, offsetsOf(other.sandbox));
    await page.reload();
    await page.getByText(other.sandbox.url.slice('http://'.length), { exact: true }).waitFor();
    await expectShown(page, offsetsOf(other.sandbox));
  });

  itInChromium('begins at the ledger end on demand, with the latest updates before it', async () => {
    const { sandbox, page } = await openForm(500);
    await enterLedger(page, sandbox.url, { begin: 'end' });
    await caughtUp(page);
    await page.getByText('200 in the table').waitFor();
    sandbox.generate(10);
    await expectShown(page, offsetsOf(sandbox).slice(0, 210));
  });

  itInChromium('waits for a ledger that does not answer, to begin at its end', async () => {
    const { sandbox, page } = await openForm(20);
    const reconnect = await cutOff(page);
    await enterLedger(page, sandbox.url, { begin: 'end' });
    await waitForStatus(page, 'Retrying');
    await page.getByRole('alert').getByText('Nothing answers there').waitFor();
    await reconnect();
    await caughtUp(page);
    await expectShown(page, offsetsOf(sandbox));
  });

  itInChromium('rejects invalid addresses, and shows its form again after a reload', async () => {
    const { sandbox, page } = await openForm();
    for (const given of ['localhost:7575', 'ftp://127.0.0.1', 'http://127.0.0.1:7575?tenant=1']) {
      await enterLedger(page, given);
      await page.getByRole('alert').getByText('http://').waitFor();
      await page.reload();
    }
    await enterLedger(page, sandbox.url);
    await caughtUp(page);
  });

  itInChromium('shows the traffic of the sandbox, also after a reload', async () => {
    const { page } = await openExplorer();
    const traffic = page.getByLabel('Traffic');
    await eventually(() => traffic.inputValue(), '5');
    await traffic.selectOption('20');
    await press(page, 'Add 1,000');
    await page.reload();
    await page.getByRole('option', { name: '20/s', selected: true }).waitFor({ state: 'attached' });
  });

  itInChromium('shows the actual traffic when a change fails', async () => {
    const { url } = await start();
    const page = await newPage();
    await page.route(/control\/traffic/, (route) =>
      route.request().postData() === '{}'
        ? route.continue()
        : route.fulfill({ status: 400, json: { error: 'not now' } }),
    );
    await page.goto(url);
    const traffic = page.getByLabel('Traffic');
    await eventually(() => traffic.inputValue(), '5');
    await traffic.selectOption('20');
    await page.getByText('not now').waitFor();
    await eventually(() => traffic.inputValue(), '5');
  });

  itInChromium('shows no traffic until it is known', async () => {
    const { url } = await start();
    const page = await newPage();
    const release = await hold(page, /control\/traffic/);
    await page.goto(url);
    await caughtUp(page);
    const traffic = page.getByLabel('Traffic');
    await eventually(() => traffic.isDisabled(), true);
    expect(await traffic.inputValue()).toBe('');
    release();
    await eventually(() => traffic.inputValue(), '5');
    await eventually(() => traffic.isEnabled(), true);
  });
});

/** Opens an explorer without a ledger, and so the form of connections. */
async function openForm(updates = 0, options: SandboxOptions = {}) {
  const { sandbox, url } = await start(options, () => ({}));
  sandbox.generate(updates);
  return { sandbox, page: await open(url) };
}
