import { describe, expect } from '@jest/globals';
import { itInChromium } from '../../../helpers/browser.js';
import { eventually } from '../../../helpers/time.js';
import { asset, contractRow, count } from './contractsPage.js';
import { cutOff, goTo, hold, newPage, open, openContracts, panelOf, press, start, waitForStatus } from './explorer.js';
import { expectFine } from './screen.js';

const none = 'No active contracts';
const unknown = 'Not known yet: the ledger does not answer';

/** Tests of what the page of contracts says of its own knowledge, on screens of any width. */
describe('the page of contracts', () => {
  itInChromium('says that there are none only when that is known', async () => {
    const { sandbox, url } = await start();
    const page = await newPage();
    const restore = await cutOff(page);
    await page.goto(`${url}/#contracts`);
    await page.getByText(unknown).waitFor();
    expect(await count(page, 'Active contracts')).toBe('–');
    expect(await page.getByText(none).count()).toBe(0);
    await restore();
    await page.getByText(none).waitFor();
    await waitForStatus(page, 'Live');
    await eventually(() => count(page, 'Active contracts'), '0');
    asset(sandbox);
    await eventually(() => count(page, 'Active contracts'), '1');
    await eventually(() => page.getByText(none).count(), 0);
    await page.getByLabel('Filter by text').fill('nothing has this');
    await page.getByText('No contract matches').waitFor();
    await press(page, 'Clear the filters');
    await eventually(() => page.locator('app-contract-cells').count(), 1);
  });

  itInChromium('says that it reads until all contracts are there', async () => {
    const { sandbox, url } = await start();
    asset(sandbox);
    const page = await newPage();
    const release = await hold(page, '**/v2/state/active-contracts*');
    await page.goto(`${url}/#contracts`);
    await page.getByText('Reading the contracts…').waitFor();
    await waitForStatus(page, 'Reading');
    expect(await page.getByText(none).count()).toBe(0);
    release();
    await eventually(() => count(page, 'Active contracts'), '1');
  });

  itInChromium('keeps the contracts of an earlier offset while the ledger does not answer, and says so', async () => {
    const { sandbox, page } = await openContracts();
    const contractId = asset(sandbox);
    await contractRow(page, contractId).waitFor();
    const restore = await cutOff(page);
    // the answer to the request that is open ends it; the next one gets none
    asset(sandbox);
    await page.getByText('The ledger does not answer. These are its contracts at offset').waitFor();
    await waitForStatus(page, 'Retrying');
    const later = asset(sandbox);
    await contractRow(page, contractId).click();
    await panelOf(page).getByText('The ledger does not answer').waitFor();
    await restore();
    await contractRow(page, later).waitFor();
    await waitForStatus(page, 'Live');
    await panelOf(page).getByText('Created', { exact: true }).last().waitFor();
  });

  itInChromium('says why contracts cannot be read, and reads them on demand', async () => {
    let isKnown = false;
    const { sandbox, url } = await start({ checkToken: () => isKnown });
    asset(sandbox);
    const page = await open(`${url}/#contracts`);
    await page.getByRole('alert').filter({ hasText: 'This ledger requires a token. Enter one.' }).waitFor();
    expect(await page.getByText(none).count()).toBe(0);
    isKnown = true;
    await press(page, 'Try again');
    await eventually(() => count(page, 'Active contracts'), '1');
  });

  itInChromium('keeps its filters while the updates are shown', async () => {
    const { page } = await openContracts(60);
    await page.getByLabel('Filter by text').fill('gold');
    await goTo(page, 'Updates');
    await page.locator('app-updates-page').waitFor();
    await goTo(page, 'Contracts');
    await eventually(() => page.getByLabel('Filter by text').inputValue(), 'gold');
    await page.locator('app-contract-cells').first().waitFor();
  });

  itInChromium.each([1440, 1024, 768, 390, 320])(
    'fits, and has no accessibility violations: %i pixels',
    async (width) => {
      const { page } = await openContracts(200);
      await page.setViewportSize({ width, height: width < 761 ? 720 : 800 });
      await page.locator('app-contract-cells').first().waitFor();
      // all columns are visible, and the address can be read
      for (const shown of ['.grid', '.address span'])
        expect(await page.locator(shown).evaluate((e) => e.scrollWidth > e.clientWidth)).toBe(
          shown !== '.grid' && width < 390,
        );
      await expectFine(page, width);
      if (width < 761) await press(page, 'Filters');
      await page.getByLabel('Party').selectOption({ label: 'dora' });
      await expectFine(page, width);
      await page.locator('app-contract-cells').first().click();
      await page.getByText('Created', { exact: true }).last().waitFor();
      await expectFine(page, width);
      await press(page, 'Exercise a choice…');
      await press(page, 'Make a key and host the party');
      await page.getByRole('textbox', { name: 'Argument' }).fill('{');
      await page.getByText('This is not JSON.').waitFor();
      await expectFine(page, width);
    },
  );
});
