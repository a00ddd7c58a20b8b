import { describe, expect } from '@jest/globals';
import { itInChromium } from '../../../helpers/browser.js';
import { effort } from '../../../helpers/effort.js';
import { eventually, until } from '../../../helpers/time.js';
import {
  expectShown,
  newPage,
  offsetsOf,
  open,
  openExplorer,
  press,
  row,
  start,
  transact,
  valueOf,
} from './explorer.js';
import { readOffsets, scrollThrough } from './screen.js';

/** Tests of the explorer's table and its filters. */
describe('the table', () => {
  itInChromium('shows known and new updates, the newest first', async () => {
    const { sandbox, page } = await openExplorer(120);
    await expectShown(page, offsetsOf(sandbox));

    await press(page, /Newest/);
    sandbox.generate(5);
    await row(page, sandbox.ledgerEnd).waitFor();
    await eventually(() => page.getByRole('row').first().getAttribute('id'), `row-${sandbox.ledgerEnd}`);
  });

  itInChromium('filters by variant, party, template, synchronizer and text', async () => {
    const { sandbox, page } = await openExplorer(200);
    const wanted = (is: (text: string, variant: string) => boolean): number[] =>
      sandbox.updates
        .filter((update) => is(JSON.stringify(update), Object.keys(update)[0] ?? ''))
        .map((update) => valueOf(update).offset)
        .reverse();

    await press(page, 'Reassignments');
    const reassignments = wanted((_, variant) => variant === 'Reassignment');
    await expectShown(page, reassignments);
    await press(page, 'Clear');

    await page.getByLabel('Template').selectOption('sandbox-tasks:Tasks.Model:Task');
    await press(page, 'Transactions');
    const tasks = wanted((text, variant) => variant === 'Transaction' && text.includes(':Tasks.Model:Task"'));
    expect(tasks.length).toBeGreaterThan(0);
    await expectShown(page, tasks);
    await press(page, 'Clear');

    await page.getByLabel('Party').selectOption({ label: 'dora' });
    await page.getByLabel('Synchronizer').selectOption({ label: 'sync2' });
    const ofSync2 = `"synchronizerId":"${sandbox.synchronizers[1] ?? '?'}"`;
    const both = wanted((text) => text.includes('dora::') && text.includes(ofSync2));
    await expectShown(page, both);
    await press(page, 'Clear');

    // `/` focuses the filter, which finds an id by its beginning
    await page.keyboard.press('/');
    const [first] = sandbox.updates.map(valueOf);
    await page.keyboard.type(first?.updateId.slice(0, 20) ?? '');
    await expectShown(page, offsetsOf(sandbox).slice(-1));
  });

  itInChromium('has all its filters on a page of any width', async () => {
    const { page } = await openExplorer(40);
    for (const width of [1280, 1000, 800]) {
      await page.setViewportSize({ width, height: 800 });
      await until(async () => {
        const filter = await page.getByLabel('Synchronizer').boundingBox();
        return filter !== null && filter.x + filter.width <= width;
      });
    }
  });

  itInChromium('distinguishes parties of the same name', async () => {
    const { sandbox, page } = await openExplorer();
    const [one, other] = [sandbox.externalParty('frank').party, sandbox.externalParty('frank').party];
    for (const party of [one, other, one]) transact(sandbox, [{ CreatedEvent: { signatories: [party] } }]);
    await row(page, sandbox.ledgerEnd).waitFor();
    const fingerprint = other.slice('frank::1220'.length);
    await page.getByLabel('Party').selectOption({ label: `frank · ${fingerprint.slice(0, 10)}…` });
    await expectShown(page, offsetsOf(sandbox).slice(1, 2));
  });

  itInChromium('stays responsive with thousands of parties', async () => {
    const { sandbox, url } = await start({ maxListElements: 1_000 });
    for (let n = 0; n < 5_000; n += 1) {
      const signatories = [`party${n}::1220${String(n).padStart(64, '0')}`];
      transact(sandbox, [{ CreatedEvent: { signatories } }]);
    }
    const page = await newPage();
    await page.addInitScript(() => {
      const tasks: number[] = [];
      Object.assign(window, { tasks });
      new PerformanceObserver((list) => {
        tasks.push(...list.getEntries().map(({ duration }) => duration));
      }).observe({ entryTypes: ['longtask'] });
    });
    await page.goto(url);
    await page.getByText('5,000 in the table').waitFor();
    await row(page, sandbox.ledgerEnd).waitFor();
    // comparing each party with all others took twenty seconds; this takes a tenth of one
    const busyMs = await page.evaluate(() =>
      (window as unknown as { tasks: number[] }).tasks.reduce((sum, each) => sum + each, 0),
    );
    expect(busyMs).toBeLessThan(15_000);
    await page.getByLabel('Party').selectOption({ label: 'party4321' });
    await expectShown(page, [4_322]);
  });

  itInChromium('drops only the oldest updates when the page is full', async () => {
    const { sandbox, url } = await start({}, ({ url: baseUrl }) => ({ baseUrl, sandbox: true, capacity: 200 }));
    sandbox.generate(150);
    const page = await open(url);
    await row(page, sandbox.ledgerEnd).waitFor();
    for (let more = 0; more < 4; more += 1) {
      sandbox.generate(40);
      await row(page, sandbox.ledgerEnd).waitFor();
    }
    await page.getByText('This page is full').waitFor();
    // it drops the oldest after the row of the newest is there
    const isNewest = (shown: readonly number[]): boolean =>
      shown.length >= 180 && shown.length <= 200 && shown.every((offset, at) => offset === offsetsOf(sandbox)[at]);
    await until(async () => isNewest(await readOffsets(page)));
  });

  itInChromium('scrolls smoothly through tens of thousands of updates', async () => {
    const count = effort(20_000, 100_000, 20_000);
    const { sandbox, url } = await start({ maxListElements: 1_000 });
    sandbox.generate(count);
    const begun = performance.now();
    const page = await open(url);
    await row(page, sandbox.ledgerEnd).waitFor();
    const filledMs = performance.now() - begun;
    const traffic = setInterval(() => sandbox.generate(2), 100);
    try {
      const { frames, tasks, rows, reached } = await scrollThrough(page);
      const at = (share: number): number => Math.round(frames[Math.floor(share * (frames.length - 1))] ?? 0);
      console.log(
        `${count} updates: there after ${(filledMs / 1_000).toFixed(1)} s; scrolled, frames took ${at(0.5)} ms (median), ` +
          `${at(0.95)} ms (95 %), ${at(1)} ms (longest), and the longest task ${Math.round(Math.max(0, ...tasks))} ms; ${rows} rows in the page at most`,
      );
      expect(reached).toBe(offsetsOf(sandbox).at(-1));
      // what keeps frames short: the page has few rows
      expect(rows).toBeLessThan(100);
    } finally {
      clearInterval(traffic);
    }
  });
});
