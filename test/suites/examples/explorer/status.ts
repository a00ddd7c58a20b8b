import { describe, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { itInChromium } from '../../../helpers/browser.js';
import { eventually, until } from '../../../helpers/time.js';
import {
  caughtUp,
  connectTo,
  cutOff,
  expectShown,
  offsetsOf,
  open,
  openExplorer,
  row,
  start,
  waitForStatus,
} from './explorer.js';

/** Tests of the explorer's status: what it says of the ledger, and of one that cannot be read. */
export function describeStatus(): void {
  describe('the status', () => {
    itInChromium('does not count what was read to catch up in the rate of the traffic', async () => {
      const { page } = await openExplorer(3_000);
      let first = '';
      await until(async () => /\d/.test((first = await rate(page))));
      expect(Number.parseFloat(first)).toBeLessThan(5);
    });

    itInChromium('shows neither lag nor rate while the ledger does not answer', async () => {
      const { page } = await openExplorer(30);
      await until(async () => (await lag(page)) === '0');
      await cutOff(page);
      await waitForStatus(page, 'Retrying');
      await eventually(async () => [await lag(page), await rate(page)], ['–', '–/s']);
    });

    itInChromium('says that it reads, and not that there is nothing, before the first updates', async () => {
      const { sandbox, url } = await start();
      sandbox.generate(3_000);
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => (release = resolve));
      const page = await open(url, async (opened) => {
        await opened.route(/v2\/updates/, (route) => released.then(() => route.continue()));
      });
      await page.getByText(/^Reading [\d,]+ offsets…$/).waitFor();
      expect(await page.getByText('No updates yet').count()).toBe(0);
      release();
      await row(page, sandbox.ledgerEnd).waitFor();
    });

    itInChromium('shows the highest rate of its chart as a whole', async () => {
      const { sandbox, url } = await start();
      const page = await open(url, ({ clock }) => clock.install());
      await caughtUp(page);
      for (const count of [3, 3, 3, 800, 3, 3, 3]) {
        sandbox.generate(count);
        await row(page, sandbox.ledgerEnd).waitFor();
        await page.clock.runFor(1_000);
      }
      const colours = await page.locator('app-rate-chart canvas').evaluate((canvas) => {
        if (!(canvas instanceof HTMLCanvasElement)) throw new Error('it is no canvas');
        // the first line of the area below the padding of six pixels: empty, or a line of the grid from edge to edge
        const line = canvas.getContext('2d')?.getImageData(60, 7 * devicePixelRatio, canvas.width - 62, 1);
        return new Set(new Uint32Array(line?.data.buffer ?? new ArrayBuffer(0))).size;
      });
      expect(colours).toBe(1);
    });

    itInChromium('names the time zone, and the age of a synchronizer that is behind', async () => {
      const { sandbox, url } = await start();
      const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000 - 5_000).toISOString();
      for (const [at, synchronizerId] of sandbox.synchronizers.entries()) {
        const recordTime = minutesAgo(at === 0 ? 0 : 3);
        sandbox.append({ Transaction: { value: { synchronizerId, recordTime, events: [{ CreatedEvent: {} }] } } });
      }
      const page = await open(url);
      await caughtUp(page);
      await page.getByText('Record time (UTC)').waitFor();
      await eventually(() => page.locator('.clock dt').allInnerTexts(), ['sync1 · UTC', 'sync2 · UTC']);
      await page.locator('.clock', { hasText: 'sync2' }).getByText('3 min ago').waitFor();
      expect(await page.locator('.clock', { hasText: 'sync1' }).getByText('ago').count()).toBe(0);
    });

    itInChromium('says why a wrong address cannot be read, and leads back', async () => {
      const { sandbox, page } = await openExplorer(30);
      // the discard port, where nothing listens
      await connectTo(page, 'http://127.0.0.1:9');
      await page.getByRole('alert').getByText('Nothing answers there').waitFor();
      await page.getByRole('button', { name: 'Change the address' }).click();
      await page.getByLabel('Address of the JSON Ledger API').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: `Back to ${sandbox.url}` }).click();
      await expectShown(page, offsetsOf(sandbox));
    });

    itInChromium('says that another server is no ledger', async () => {
      const { url } = await start();
      const page = await open(url);
      await caughtUp(page);
      await connectTo(page, url);
      await waitForStatus(page, 'Stopped');
      await page
        .getByRole('alert')
        .getByText('This is not the address of a JSON Ledger API. Change the address.')
        .waitFor();
      await page.getByRole('button', { name: 'Try again' }).first().waitFor();
    });
  });
}

const lag = (page: Page): Promise<string> => page.locator('.lag dd').innerText();
const rate = (page: Page): Promise<string> => page.locator('.rate dd').innerText();
