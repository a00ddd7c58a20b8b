import { describe, expect } from '@jest/globals';
import { itInChromium } from '../../../helpers/browser.js';
import { eventually, until } from '../../../helpers/time.js';
import {
  caughtUp,
  connectTo,
  cutOff,
  expectShown,
  hold,
  newPage,
  offsetsOf,
  openExplorer,
  press,
  row,
  start,
  transact,
  waitForStatus,
} from './explorer.js';

/** Tests of the explorer's status: what it says of the ledger, and of one that cannot be read. */
describe('the status', () => {
  itInChromium('does not count what was read to catch up in the rate of the traffic', async () => {
    const { page } = await openExplorer(3_000);
    let first = '';
    await until(async () => /\d/.test((first = await page.locator('.rate dd').innerText())));
    expect(Number.parseFloat(first)).toBeLessThan(5);
  });

  itInChromium('shows neither lag nor rate while the feed is paused, or the ledger does not answer', async () => {
    const { page } = await openExplorer(30);
    const numbers = () => page.locator('.lag dd, .rate dd').allInnerTexts();
    await press(page, 'Pause');
    await eventually(numbers, ['–', '–/s']);
    await press(page, 'Resume');
    await until(async () => (await numbers())[0] === '0');
    await cutOff(page);
    await waitForStatus(page, 'Retrying');
    await eventually(numbers, ['–', '–/s']);
  });

  itInChromium('says that it reads, and not that there is nothing, before the first updates', async () => {
    const { sandbox, url } = await start();
    sandbox.generate(3_000);
    const page = await newPage();
    const release = await hold(page, /v2\/updates/);
    await page.goto(url);
    await page.getByText(/^Reading [\d,]+ offsets…$/).waitFor();
    expect(await page.getByText('No updates yet').count()).toBe(0);
    release();
    await row(page, sandbox.ledgerEnd).waitFor();
  });

  itInChromium('does not say that it has caught up while the ledger is far ahead', async () => {
    const { sandbox, page } = await openExplorer(30);
    // one response is on its way, and the next ones wait
    const release = await hold(page, '**/v2/updates/**');
    transact(sandbox, [{ CreatedEvent: {} }]);
    await row(page, sandbox.ledgerEnd).waitFor();
    sandbox.generate(300);
    const lag = async () => Number.parseInt(await page.locator('.lag dd').innerText(), 10);
    await until(async () => (await lag()) >= 300);
    await waitForStatus(page, 'Catching up');
    release();
    await caughtUp(page);
  });

  itInChromium('shows the highest rate of its chart as a whole', async () => {
    const { sandbox, url } = await start();
    const page = await newPage();
    await page.clock.install();
    await page.goto(url);
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
    const { sandbox, page } = await openExplorer();
    const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000 - 5_000).toISOString();
    for (const [at, synchronizerId] of sandbox.synchronizers.entries()) {
      const recordTime = minutesAgo(at === 0 ? 0 : 3);
      transact(sandbox, [{ CreatedEvent: {} }], { synchronizerId, recordTime });
    }
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
    await press(page, 'Change the address');
    await page.getByLabel('Address of the JSON Ledger API').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: `Back to ${sandbox.url}` }).click();
    await expectShown(page, offsetsOf(sandbox));
  });

  itInChromium('says that another server is no ledger', async () => {
    const { page, url } = await openExplorer();
    await connectTo(page, url);
    await waitForStatus(page, 'Stopped');
    const alert = page.getByRole('alert');
    await alert.getByText('This is not the address of a JSON Ledger API. Change the address.').waitFor();
    await page.getByRole('button', { name: 'Try again' }).first().waitFor();
  });
});
