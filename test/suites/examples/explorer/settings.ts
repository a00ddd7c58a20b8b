import { describe, expect } from '@jest/globals';
import { itInChromium } from '../../../helpers/browser.js';
import { eventually } from '../../../helpers/time.js';
import { caughtUp, connectTo, cutOff, expectShown, offsetsOf, open, start, waitForStatus } from './explorer.js';

/** Tests of the explorer's theme, its form of connections, and the sandbox's traffic. */
export function describeSettings(): void {
  describe('the settings', () => {
    itInChromium('is light or dark like the system, until the user chooses', async () => {
      const { url } = await start();
      const page = await open(url);
      const isDark = async (): Promise<boolean> => {
        const colour = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
        return Number(/\d+/.exec(colour)?.[0]) < 128;
      };
      await eventually(isDark, false);
      await page.emulateMedia({ colorScheme: 'dark' });
      await eventually(isDark, true);
      await page.getByRole('button', { name: 'Theme: auto' }).click();
      await page.getByRole('button', { name: 'Theme: light' }).waitFor();
      await eventually(isDark, false);
      await page.reload();
      await page.getByRole('button', { name: 'Theme: light' }).waitFor();
      await eventually(isDark, false);
    });

    itInChromium('explores any participant, and keeps its token only in memory', async () => {
      const token = 'canary-of-a-token';
      const { sandbox, url } = await start({ checkToken: (given) => given === token }, () => ({}));
      sandbox.generate(30);
      const page = await open(url);
      const connect = async (given: string): Promise<void> => {
        await page.getByLabel('Address of the JSON Ledger API').fill(sandbox.url);
        await page.getByLabel('Token').fill(given);
        await page.getByRole('button', { name: 'Open' }).click();
      };
      await connect('another');
      await waitForStatus(page, 'Stopped');
      await page.getByRole('button', { name: sandbox.url.slice('http://'.length) }).click();
      await connect(token);
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

    itInChromium('opens the same ledger after a reload, also one of this machine', async () => {
      const other = await start({}, () => ({}));
      other.sandbox.generate(40);
      const { url } = await start();
      const page = await open(url);
      await caughtUp(page);
      await connectTo(page, other.sandbox.url);
      await expectShown(page, offsetsOf(other.sandbox));
      await page.reload();
      await page.getByText(other.sandbox.url.slice('http://'.length), { exact: true }).waitFor();
      await expectShown(page, offsetsOf(other.sandbox));
    });

    itInChromium('begins at the ledger end on demand, with the latest updates before it', async () => {
      const { sandbox, url } = await start({}, () => ({}));
      sandbox.generate(500);
      const page = await open(url);
      await page.getByLabel('Address of the JSON Ledger API').fill(sandbox.url);
      await page.getByRole('combobox').selectOption('end');
      await page.getByRole('button', { name: 'Open' }).click();
      await caughtUp(page);
      await page.getByText('200 in the table').waitFor();
      sandbox.generate(10);
      await expectShown(page, offsetsOf(sandbox).slice(0, 210));
    });

    itInChromium('waits for a ledger that does not answer, to begin at its end', async () => {
      const { sandbox, url } = await start({}, () => ({}));
      sandbox.generate(20);
      const page = await open(url);
      const reconnect = await cutOff(page);
      await page.getByLabel('Address of the JSON Ledger API').fill(sandbox.url);
      await page.getByRole('combobox').selectOption('end');
      await page.getByRole('button', { name: 'Open' }).click();
      await waitForStatus(page, 'Retrying');
      await page.getByRole('alert').getByText('Nothing answers there').waitFor();
      await reconnect();
      await caughtUp(page);
      await expectShown(page, offsetsOf(sandbox));
    });

    itInChromium('rejects invalid addresses, and shows its form again after a reload', async () => {
      const { sandbox, url } = await start({}, () => ({}));
      const page = await open(url);
      const address = page.getByLabel('Address of the JSON Ledger API');
      for (const given of ['localhost:7575', 'ftp://127.0.0.1', 'http://127.0.0.1:7575?tenant=1']) {
        await address.fill(given);
        await page.getByRole('button', { name: 'Open' }).click();
        await page.getByRole('alert').getByText('http://').waitFor();
        await page.reload();
      }
      await address.fill(sandbox.url);
      await page.getByRole('button', { name: 'Open' }).click();
      await caughtUp(page);
    });

    itInChromium('shows the traffic of the sandbox, also after a reload', async () => {
      const { url } = await start();
      const page = await open(url);
      const traffic = page.getByLabel('Traffic');
      await eventually(() => traffic.inputValue(), '5');
      await traffic.selectOption('20');
      await page.getByRole('button', { name: 'Add 1,000' }).click();
      await page.reload();
      await page.getByRole('option', { name: '20/s', selected: true }).waitFor({ state: 'attached' });
    });

    itInChromium('shows the actual traffic when a change fails', async () => {
      const { url } = await start();
      const page = await open(url, async (opened) => {
        await opened.route(/control\/traffic/, (route) =>
          route.request().postData() === '{}'
            ? route.continue()
            : route.fulfill({ status: 400, json: { error: 'not now' } }),
        );
      });
      const traffic = page.getByLabel('Traffic');
      await eventually(() => traffic.inputValue(), '5');
      await traffic.selectOption('20');
      await page.getByText('not now').waitFor();
      await eventually(() => traffic.inputValue(), '5');
    });

    itInChromium('shows no traffic until it is known', async () => {
      const { url } = await start();
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => (release = resolve));
      const page = await open(url, async (opened) => {
        await opened.route(/control\/traffic/, (route) => released.then(() => route.continue()));
      });
      await caughtUp(page);
      const traffic = page.getByLabel('Traffic');
      await eventually(() => traffic.isDisabled(), true);
      expect(await traffic.inputValue()).toBe('');
      release();
      await eventually(() => traffic.inputValue(), '5');
      await eventually(() => traffic.isEnabled(), true);
    });
  });
}
