import { describe, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { itInChromium } from '../../../helpers/browser.js';
import { eventually, until } from '../../../helpers/time.js';
import { connectTo, cutOff, makeKey, openExplorer, outcome, press, row, submit, waitForStatus } from './explorer.js';
import { findViolationsInEachTheme } from './screen.js';

/** Tests of the explorer's states on screens of any width: what fits, what is accessible, and what the keyboard reaches. */
describe('the screen', () => {
  itInChromium.each([320, 390, 1024, 1440])(
    'has no violations and nothing beyond its edge in any state: %i pixels',
    async (width) => {
      const { sandbox, page } = await openExplorer(300);
      await page.setViewportSize({ width, height: 700 });
      const isNarrow = width < 761;
      const expectFine = async (state: string): Promise<void> => {
        await eventually(() => findOverflows(page), []);
        // between the extremes, the elements are the same
        const violations = [320, 1440].includes(width) ? await findViolationsInEachTheme(page) : [];
        expect([state, ...violations]).toEqual([state]);
      };
      const close = () => page.keyboard.press('Escape');
      await expectFine('the table');
      for (const name of ['Filters', 'Controls']) {
        const button = page.getByRole('button', { name });
        expect(await button.count()).toBe(isNarrow ? 1 : 0);
        if (isNarrow) await button.click();
      }
      await page.getByLabel('Synchronizer').waitFor();
      await page.getByLabel('Traffic').waitFor();
      await expectFine('the filters and controls');
      await page.getByLabel('Filter by text').fill('nothing has this');
      await page.getByText('Nothing matches the filters.').waitFor();
      await expectFine('no match');
      await press(page, 'Clear the filters');
      await row(page, sandbox.ledgerEnd).click();
      await page.getByText('Update id').waitFor();
      await expectFine('an update');
      await page.getByRole('button', { name: 'Contract 00' }).first().click();
      await page.getByText(/events? seen/).waitFor();
      await expectFine('a contract');
      await close();
      await page.getByTitle('Connection').click();
      await page.getByLabel('Address of the JSON Ledger API').waitFor();
      await expectFine('a connection');
      await press(page, 'What the client does');
      await page.getByText('Feeds and views').waitFor();
      await expectFine('the activity');
      await close();
      await makeKey(page);
      await submit(page);
      await outcome(page, 'committed');
      await expectFine('a submission');
      sandbox.fault({ kind: 'status', status: 400, body: 'Invalid value for: body' }, { path: /prepare$/ });
      await submit(page);
      await outcome(page, 'failed');
      await expectFine('a failed submission');
      await close();
      await press(page, 'Pause');
      await expectFine('paused');
      await press(page, 'Resume');
      await cutOff(page);
      await waitForStatus(page, 'Retrying');
      await page.getByRole('row').nth(3).click();
      await page.getByText('The ledger does not answer').waitFor();
      await expectFine('without an answer');
      await close();
      await connectTo(page, 'http://127.0.0.1:9');
      await page.getByRole('button', { name: 'Change the address' }).waitFor();
      await expectFine('a wrong address');
    },
  );

  itInChromium.each([1280, 320])('leads through a submission by keyboard alone: %i pixels', async (width) => {
    const { sandbox, page } = await openExplorer(30);
    await page.setViewportSize({ width, height: 700 });
    const tabTo = async (name: string): Promise<void> => {
      const button = page.getByRole('button', { name });
      await button.waitFor();
      for (let tabs = 0; tabs < 60; tabs += 1) {
        if (await button.evaluate((element) => element === document.activeElement)) break;
        await page.keyboard.press('Tab');
      }
      await page.keyboard.press('Enter');
    };
    await tabTo('Submit…');
    await tabTo('Make a key and host the party');
    await tabTo('Prepare, verify, sign and submit');
    await outcome(page, 'committed');
    await tabTo('Show');
    await page.getByRole('heading', { name: `Update ${sandbox.ledgerEnd}` }).waitFor();
    await tabTo('Older update');
    await page.getByRole('heading', { name: `Update ${sandbox.ledgerEnd}` }).waitFor({ state: 'detached' });
    await tabTo('Back');
    await page.getByRole('heading', { name: 'Submit' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Submit' }).waitFor({ state: 'detached' });
    // to the table next to a panel, and to where it was before a dialog
    const focused = width > 760 ? page.getByRole('grid') : page.getByRole('button', { name: 'Submit…' });
    await until(() => focused.evaluate((element) => element === document.activeElement));
  });

  itInChromium('counts the filters that a narrow screen hides', async () => {
    const { page } = await openExplorer(100);
    await page.setViewportSize({ width: 320, height: 640 });
    const filters = page.getByRole('button', { name: 'Filters' });
    await eventually(() => page.getByLabel('Party').isVisible(), false);
    await filters.click();
    await page.getByLabel('Party').selectOption({ label: 'dora' });
    await press(page, 'Reassignments');
    await filters.click();
    await eventually(() => filters.innerText(), 'Filters 2');
    await eventually(() => page.getByLabel('Party').isVisible(), false);
  });

  itInChromium('gives what happened at most two fifths of a wide table', async () => {
    const { sandbox, page } = await openExplorer(30);
    await page.setViewportSize({ width: 1440, height: 900 });
    const cell = await row(page, sandbox.ledgerEnd).locator('.effects').boundingBox();
    expect(cell?.width).toBeGreaterThan(300);
    expect(cell?.width).toBeLessThan(0.4 * 1440);
  });

  itInChromium('writes all numbers in one way, and finds an offset as it is written', async () => {
    const { sandbox, page } = await openExplorer(1_300);
    const written = sandbox.ledgerEnd.toLocaleString('en-US');
    await row(page, sandbox.ledgerEnd).getByText(written, { exact: true }).waitFor();
    await page.locator('.offset dd').getByText(written, { exact: true }).waitFor();
    await page.getByText('1,300 in the table').waitFor();
    await page.getByRole('button', { name: 'Add 1,000', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Stop the ledger for 6 s' }).waitFor();
    await page.getByLabel('Filter by text').fill(written);
    await eventually(() => page.getByRole('row').count(), 1);
    await row(page, sandbox.ledgerEnd).click();
    await page.getByRole('heading', { name: `Update ${written}` }).waitFor();
  });
});

/** The visible elements that reach beyond the right edge of the screen, or of a panel that would scroll sideways. */
const findOverflows = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('body *')]
      .filter((element) => {
        const { width, right } = element.getBoundingClientRect();
        if (width === 0 || element.closest('.sr-only, .cdk-visually-hidden, h1, canvas, .uplot') !== null) return false;
        return (
          right > innerWidth + 1 || (element.matches('.content, html') && element.scrollWidth > element.clientWidth)
        );
      })
      .map((element) => `${element.tagName} ${element.getAttribute('class') ?? ''}`),
  );
