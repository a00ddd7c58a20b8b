import { describe, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { itInChromium } from '../../../helpers/browser.js';
import { eventually } from '../../../helpers/time.js';
import { caughtUp, makeKey, open, openExplorer, outcome, row, start, submit } from './explorer.js';

/** Tests of the explorer on screens of any width. */
export function describeScreens(): void {
  describe('the screen', () => {
    itInChromium.each([320, 390, 1024, 1440])('has nothing beyond its edge at %i pixels', async (width) => {
      const { sandbox, url } = await start();
      sandbox.generate(300);
      const page = await open(url);
      await page.setViewportSize({ width, height: 700 });
      await caughtUp(page);
      const expectFit = () => eventually(() => findOverflows(page), []);
      await expectFit();
      for (const name of ['Filters', 'Controls']) {
        const button = page.getByRole('button', { name });
        if (width < 761) await button.click();
        expect(await button.count()).toBe(width < 761 ? 1 : 0);
      }
      await page.getByLabel('Synchronizer').waitFor();
      await page.getByLabel('Traffic').waitFor();
      await expectFit();
      await row(page, sandbox.ledgerEnd).click();
      await page.getByText('Update id').waitFor();
      await expectFit();
      await page
        .getByRole('button', { name: /^Contract / })
        .first()
        .click();
      await page.getByText(/events? seen/).waitFor();
      await expectFit();
      await page.getByRole('button', { name: 'Close' }).click();
      await page.getByTitle('Connection').click();
      await page.getByLabel('Address of the JSON Ledger API').waitFor();
      await expectFit();
      await page.getByRole('button', { name: 'Close' }).click();
      await makeKey(page);
      await submit(page);
      await outcome(page, 'committed');
      await expectFit();
    });

    itInChromium('counts the filters that a narrow screen hides', async () => {
      const { sandbox, url } = await start();
      sandbox.generate(100);
      const page = await open(url);
      await page.setViewportSize({ width: 320, height: 640 });
      await caughtUp(page);
      const filters = page.getByRole('button', { name: 'Filters' });
      await eventually(() => page.getByLabel('Party').isVisible(), false);
      await filters.click();
      await page.getByLabel('Party').selectOption({ label: 'dora' });
      await page.getByRole('button', { name: 'Reassignments' }).click();
      await filters.click();
      await eventually(() => filters.innerText(), 'Filters 2');
      await eventually(() => page.getByLabel('Party').isVisible(), false);
    });

    itInChromium('gives what happened at most two fifths of a wide table', async () => {
      const { sandbox, url } = await start();
      sandbox.generate(30);
      const page = await open(url);
      await page.setViewportSize({ width: 1440, height: 900 });
      await caughtUp(page);
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
}

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
