import { describe, expect } from '@jest/globals';
import { findViolationsInEachTheme } from './screen.js';
import { itInChromium } from '../../../helpers/browser.js';
import { until } from '../../../helpers/time.js';
import { caughtUp, connectTo, cutOff, makeKey, open, outcome, row, start, submit, waitForStatus } from './explorer.js';

/** Tests of the explorer's accessibility in each of its states. */
export function describeAccessibility(): void {
  describe('the accessibility', () => {
    for (const width of [1280, 320]) {
      itInChromium(`has no violations in any state: ${width} pixels`, async () => {
        const { sandbox, url } = await start();
        sandbox.generate(300);
        const page = await open(url);
        await page.setViewportSize({ width, height: 700 });
        const expectNone = async (state: string): Promise<void> => {
          expect([state, ...(await findViolationsInEachTheme(page))]).toEqual([state]);
        };
        const close = () => page.keyboard.press('Escape');
        await caughtUp(page);
        await expectNone('the table');
        for (const name of ['Filters', 'Controls']) if (width < 761) await page.getByRole('button', { name }).click();
        await page.getByLabel('Filter by text').fill('nothing has this');
        await page.getByText('Nothing matches the filters.').waitFor();
        await expectNone('no match');
        await page.getByRole('button', { name: 'Clear the filters' }).click();
        await row(page, sandbox.ledgerEnd).click();
        await page.getByText('Update id').waitFor();
        await expectNone('an update');
        await page
          .getByRole('button', { name: /^Contract / })
          .first()
          .click();
        await page.getByText(/events? seen/).waitFor();
        await expectNone('a contract');
        await close();
        await makeKey(page);
        await submit(page);
        await outcome(page, 'committed');
        await expectNone('a submission');
        sandbox.fault({ kind: 'status', status: 400, body: 'no' }, { path: /prepare$/ });
        await submit(page);
        await outcome(page, 'failed');
        await expectNone('a failed submission');
        await close();
        await page.getByRole('button', { name: 'Pause' }).click();
        await expectNone('paused');
        await page.getByRole('button', { name: 'Resume' }).click();
        await cutOff(page);
        await waitForStatus(page, 'Retrying');
        await page.getByRole('row').nth(3).click();
        await page.getByText('The ledger does not answer').waitFor();
        await expectNone('without an answer');
        await close();
        await connectTo(page, 'http://127.0.0.1:9');
        await page.getByRole('button', { name: 'Change the address' }).waitFor();
        await expectNone('a wrong address');
      });
    }

    itInChromium.each([1280, 320])('leads through a submission by keyboard alone: %i pixels', async (width) => {
      const { sandbox, url } = await start();
      sandbox.generate(30);
      const page = await open(url);
      await page.setViewportSize({ width, height: 700 });
      await caughtUp(page);
      const press = async (name: string): Promise<void> => {
        const button = page.getByRole('button', { name });
        await button.waitFor();
        for (let tabs = 0; tabs < 60; tabs += 1) {
          if (await button.evaluate((element) => element === document.activeElement)) break;
          await page.keyboard.press('Tab');
        }
        await page.keyboard.press('Enter');
      };
      await press('Submit…');
      await press('Make a key and host the party');
      await press('Prepare, verify, sign and submit');
      await outcome(page, 'committed');
      await press('Show');
      await page.getByRole('heading', { name: `Update ${sandbox.ledgerEnd}` }).waitFor();
      await press('Older update');
      await page.getByRole('heading', { name: `Update ${sandbox.ledgerEnd}` }).waitFor({ state: 'detached' });
      await press('Back');
      await page.getByRole('heading', { name: 'Submit' }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('heading', { name: 'Submit' }).waitFor({ state: 'detached' });
      // to the table next to a panel, and to where it was before a dialog
      const focused = width > 760 ? page.getByRole('grid') : page.getByRole('button', { name: 'Submit…' });
      await until(() => focused.evaluate((element) => element === document.activeElement));
    });
  });
}
