import { describe, expect } from '@jest/globals';
import { itInChromium } from '../../../helpers/browser.js';
import { eventually, until } from '../../../helpers/time.js';
import {
  beginOf,
  caughtUp,
  cutOff,
  expectSaved,
  expectShown,
  offsetsOf,
  open,
  openExplorer,
  row,
  start,
  valueOf,
  waitForStatus,
} from './explorer.js';
import { readOffsets } from './screen.js';

/** Tests of the explorer's feed: retries, pauses, reloads and tabs. */
export function describeFeed(): void {
  describe('the feed', () => {
    for (const profile of ['3.4', '3.6'] as const) {
      itInChromium(`resumes after a reload on Canton ${profile}`, async () => {
        const { sandbox, url } = await start({ profile });
        sandbox.generate(60);
        const page = await open(url);
        await caughtUp(page);
        await row(page, sandbox.ledgerEnd).waitFor();
        await expectSaved(page, sandbox.ledgerEnd);
        await page.goto('about:blank');
        sandbox.generate(30);
        await page.goto(url);
        // 3.4 cannot be read in descending order
        const shown = profile === '3.4' ? 30 : 90;
        await expectShown(page, offsetsOf(sandbox).slice(0, shown));
        await eventually(() => page.getByText('cannot be read backward').count(), profile === '3.4' ? 1 : 0);
      });
    }

    itInChromium('misses and repeats no update when the ledger goes down and comes back', async () => {
      const { sandbox, page } = await openExplorer(50);
      const reconnect = await cutOff(page);
      await sandbox.restart({ downMs: 200 });
      await waitForStatus(page, 'Retrying');
      sandbox.generate(60);
      await reconnect();
      sandbox.fault({ kind: 'truncate', bytes: 900 }, { path: /updates/, times: 2 });
      sandbox.generate(40);
      await caughtUp(page);
      await expectShown(page, offsetsOf(sandbox));
    });

    itInChromium('is no longer retrying when a panel that retried is closed', async () => {
      const { sandbox, page } = await openExplorer(30);
      await row(page, sandbox.ledgerEnd).waitFor();
      const { offset } = valueOf(sandbox.updates[10] ?? raise());
      // requests from before the feed's position are the panel's
      await page.route(/updates/, async (route) => {
        const isFromFeed = beginOf(route.request().postDataJSON()).every((begin) => begin >= sandbox.ledgerEnd);
        await (isFromFeed ? route.continue() : route.fulfill({ status: 503, body: 'not yet' }));
      });
      await row(page, offset).click();
      await waitForStatus(page, 'Retrying');
      await page.keyboard.press('Escape');
      await caughtUp(page);
    });

    itInChromium(
      'is no longer retrying when the ledger is back, after it was opened or resumed without one',
      async () => {
        const { sandbox, url } = await start();
        sandbox.generate(30);
        let reconnect = (): Promise<void> => Promise.resolve();
        const page = await open(url, async (opened) => {
          reconnect = await cutOff(opened);
        });
        await waitForStatus(page, 'Retrying');
        await reconnect();
        await caughtUp(page);

        reconnect = await cutOff(page);
        await waitForStatus(page, 'Retrying');
        for (let times = 0; times < 2; times += 1) {
          await page.getByRole('button', { name: 'Pause' }).click();
          await page.getByRole('button', { name: 'Resume' }).click();
          await waitForStatus(page, 'Retrying');
        }
        await reconnect();
        await caughtUp(page);
      },
    );

    itInChromium('shows no updates of a ledger that cannot be read', async () => {
      const { sandbox, url } = await start();
      sandbox.fault({ kind: 'status', status: 503, body: 'not yet' }, { path: /updates/, times: 1_000 });
      sandbox.generate(30);
      const page = await open(url);
      await waitForStatus(page, 'Retrying');
      await page.getByRole('alert').getByText('The ledger is not available behind this address').waitFor();
    });

    itInChromium('resumes where it was paused', async () => {
      const { sandbox, page } = await openExplorer(30);
      await row(page, sandbox.ledgerEnd).waitFor();
      await page.getByRole('button', { name: 'Pause' }).click();
      await waitForStatus(page, 'Paused');
      const before = offsetsOf(sandbox);
      const countRequests = () => sandbox.requests.filter(({ path }) => path.includes('/updates')).length;
      sandbox.generate(30);
      const polls = countRequests();
      await expectShown(page, before);
      expect(countRequests()).toBe(polls);
      await page.getByRole('button', { name: /Newest|new/ }).click();
      await page.getByRole('button', { name: 'Resume' }).click();
      await expectShown(page, offsetsOf(sandbox));
    });

    itInChromium('shows neither lag nor rate while it is paused', async () => {
      const { page } = await openExplorer(30);
      const numbers = () => page.locator('.lag dd, .rate dd').allInnerTexts();
      await until(async () => (await numbers())[0] === '0');
      await page.getByRole('button', { name: 'Pause' }).click();
      await eventually(numbers, ['–', '–/s']);
      await page.getByRole('button', { name: 'Resume' }).click();
      await until(async () => (await numbers())[0] === '0');
    });

    itInChromium('continues its chart, without a new one each second', async () => {
      const { sandbox, url } = await start();
      sandbox.generate(30);
      const page = await open(url, ({ clock }) => clock.install());
      await caughtUp(page);
      await page.clock.runFor(3_000);
      const chart = await page.locator('canvas').elementHandle();
      await page.clock.runFor(3_000);
      expect(await chart.evaluate((canvas) => canvas.isConnected)).toBe(true);
    });

    itInChromium('has each update once when it is paused and resumed many times', async () => {
      const { sandbox, url } = await start();
      sandbox.generate(4_000);
      const page = await open(url);
      await page.getByRole('button', { name: 'Pause' }).waitFor();
      await page.evaluate(async () => {
        for (let times = 0; times < 25; times += 1) {
          for (const click of ['pause', 'resume']) {
            document.querySelector<HTMLButtonElement>('app-status-strip .toggle')?.click();
            await new Promise((resolve) => setTimeout(resolve, click === 'pause' ? 15 : 30));
          }
        }
      });
      await row(page, sandbox.ledgerEnd).waitFor();
      await page.getByText('4,000 in the table').waitFor();
    });

    itInChromium('resumes at its position after a reload, and loads earlier updates on demand', async () => {
      const { sandbox, url, page } = await openExplorer(700);
      await row(page, sandbox.ledgerEnd).waitFor();
      const position = sandbox.ledgerEnd;
      await page.goto('about:blank');
      sandbox.generate(20);
      const before = sandbox.requests.length;
      await page.goto(url);
      await row(page, sandbox.ledgerEnd).waitFor();
      await page.getByRole('button', { name: 'Load earlier' }).waitFor();
      // two hundred before the position, and all after it
      await until(async () => (await readOffsets(page)).length >= 220);
      const shown = await readOffsets(page);
      expect(shown).toEqual(offsetsOf(sandbox).slice(0, shown.length));
      expect(shown.length).toBeLessThan(700);
      const begins = sandbox.requests.slice(before).flatMap(({ body }) => beginOf(body));
      expect(begins.filter((begin) => begin > 0 && begin < position - 600)).toEqual([]);

      await page.getByRole('button', { name: 'Load earlier' }).click();
      await page.getByRole('button', { name: 'Load earlier' }).waitFor({ state: 'detached' });
      await expectShown(page, offsetsOf(sandbox));
    });

    itInChromium('begins a second tab at the position of the first, each with its own display', async () => {
      const { sandbox, url } = await start();
      sandbox.generate(300);
      const first = await open(url);
      await caughtUp(first);
      await row(first, sandbox.ledgerEnd).waitFor();
      await first.getByRole('button', { name: 'Pause' }).click();
      sandbox.generate(100);
      const second = await open(url);
      await row(second, sandbox.ledgerEnd).waitFor();
      const shown = await readOffsets(second);
      expect(shown).toEqual(offsetsOf(sandbox).slice(0, shown.length));
      // the second is ahead now, but the first resumes at its own position
      await first.bringToFront();
      await first.getByRole('button', { name: 'Resume' }).click();
      await expectShown(first, offsetsOf(sandbox));
    });

    itInChromium('never moves the shared position of the tabs back', async () => {
      const { sandbox, url } = await start({ maxListElements: 1_000 });
      sandbox.generate(100);
      const first = await open(url);
      await caughtUp(first);
      await row(first, sandbox.ledgerEnd).waitFor();
      await first.getByRole('button', { name: 'Pause' }).click();
      const position = sandbox.ledgerEnd;
      sandbox.generate(1_200);
      const second = await open(url);
      await row(second, sandbox.ledgerEnd).waitFor();
      await expectSaved(second, sandbox.ledgerEnd);
      await second.close();

      // the first tab receives one page, and then nothing
      await first.route(/updates/, async (route) => {
        if (beginOf(route.request().postDataJSON()).every((begin) => begin <= position)) await route.continue();
      });
      await first.bringToFront();
      await first.getByRole('button', { name: 'Resume' }).click();
      await first.getByText('600 in the table').waitFor();
      // it has saved its position by then
      await first.getByText('Catching up').waitFor();
      await expectSaved(first, sandbox.ledgerEnd);
    });
  });
}

const raise = (): never => {
  throw new Error('there is none');
};
