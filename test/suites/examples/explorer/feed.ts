import { describe, expect } from '@jest/globals';
import { itInChromium } from '../../../helpers/browser.js';
import { eventually, until } from '../../../helpers/time.js';
import {
  beginOf,
  caughtUp,
  cutOff,
  expectSaved,
  expectShown,
  newPage,
  offsetsOf,
  open,
  openExplorer,
  press,
  row,
  start,
  waitForStatus,
} from './explorer.js';
import { readOffsets } from './screen.js';

/** Tests of the explorer's feed: retries, pauses, reloads and tabs. */
describe('the feed', () => {
  itInChromium.each([
    // which cannot be read in descending order
    ['3.4', 30, 1],
    ['3.6', 90, 0],
  ] as const)('resumes after a reload on Canton %s', async (profile, shown, notices) => {
    const { sandbox, url } = await start({ profile });
    sandbox.generate(60);
    const page = await open(url);
    await row(page, sandbox.ledgerEnd).waitFor();
    await expectSaved(page, sandbox.ledgerEnd);
    await page.goto('about:blank');
    sandbox.generate(30);
    await page.goto(url);
    await expectShown(page, offsetsOf(sandbox).slice(0, shown));
    await eventually(() => page.getByText('cannot be read backward').count(), notices);
  });

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
    const offset = offsetsOf(sandbox)[19] ?? 0;
    // the feed begins with its last update; requests from before are those of the panel
    await page.route(/updates/, async (route) => {
      const isFromFeed = beginOf(route.request().postDataJSON()).every((begin) => begin >= sandbox.ledgerEnd - 1);
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
      const page = await newPage();
      let reconnect = await cutOff(page);
      await page.goto(url);
      await waitForStatus(page, 'Retrying');
      await reconnect();
      await caughtUp(page);

      reconnect = await cutOff(page);
      await waitForStatus(page, 'Retrying');
      for (let times = 0; times < 2; times += 1) {
        await press(page, 'Pause');
        await press(page, 'Resume');
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
    await press(page, 'Pause');
    await waitForStatus(page, 'Paused');
    const before = offsetsOf(sandbox);
    const countRequests = () => sandbox.requests.filter(({ path }) => path.includes('/updates')).length;
    sandbox.generate(30);
    const polls = countRequests();
    await expectShown(page, before);
    expect(countRequests()).toBe(polls);
    await press(page, /Newest|new/);
    await press(page, 'Resume');
    await expectShown(page, offsetsOf(sandbox));
  });

  itInChromium('continues its chart, without a new one each second', async () => {
    const { sandbox, url } = await start();
    sandbox.generate(30);
    const page = await newPage();
    await page.clock.install();
    await page.goto(url);
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

    await press(page, 'Load earlier');
    await page.getByRole('button', { name: 'Load earlier' }).waitFor({ state: 'detached' });
    await expectShown(page, offsetsOf(sandbox));
  });

  itInChromium('begins a second tab at the position of the first, each with its own display', async () => {
    const { sandbox, url } = await start();
    sandbox.generate(300);
    const first = await open(url);
    await row(first, sandbox.ledgerEnd).waitFor();
    await press(first, 'Pause');
    sandbox.generate(100);
    const second = await open(url);
    await row(second, sandbox.ledgerEnd).waitFor();
    const shown = await readOffsets(second);
    expect(shown).toEqual(offsetsOf(sandbox).slice(0, shown.length));
    // the second is ahead now, but the first resumes at its own position
    await first.bringToFront();
    await press(first, 'Resume');
    await expectShown(first, offsetsOf(sandbox));
  });

  itInChromium('never moves the shared position of the tabs back', async () => {
    const { sandbox, url } = await start({ maxListElements: 1_000 });
    sandbox.generate(100);
    const first = await open(url);
    await row(first, sandbox.ledgerEnd).waitFor();
    await press(first, 'Pause');
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
    await press(first, 'Resume');
    // a page of 500 begins with the last update
    await first.getByText('599 in the table').waitFor();
    // it has saved its position by then
    await first.getByText('Catching up').waitFor();
    await expectSaved(first, sandbox.ledgerEnd);
  });
});
