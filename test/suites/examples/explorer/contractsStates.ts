import { describe, expect } from '@jest/globals';
import { itInChromium } from '../../../helpers/browser.js';
import { eventually } from '../../../helpers/time.js';
import { asset, contractRow, count, openContracts } from './contractsPage.js';
import { cutOff, start, waitForStatus } from './explorer.js';
import { expectFine } from './screen.js';

const none = 'No active contracts';
const unknown = 'Not known yet: the ledger does not answer';

/** Tests of what the page of contracts says of its own knowledge, on screens of any width. */
export function describeContractStates(): void {
  describe('the page of contracts', () => {
    itInChromium('says that there are none only when that is known', async () => {
      const { sandbox, url } = await start();
      let restore: () => Promise<void> = () => Promise.resolve();
      const page = await openContracts(url, async (opened) => void (restore = await cutOff(opened)));
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
      await page.getByRole('button', { name: 'Clear the filters' }).click();
      await eventually(() => page.locator('app-contract-cells').count(), 1);
    });

    itInChromium('says that it reads until all contracts are there', async () => {
      const { sandbox, url } = await start();
      asset(sandbox);
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => (release = resolve));
      const page = await openContracts(url, (opened) =>
        opened.route('**/v2/state/active-contracts*', (route) => released.then(() => route.continue())),
      );
      await page.getByText('Reading the contracts…').waitFor();
      await waitForStatus(page, 'Reading');
      expect(await page.getByText(none).count()).toBe(0);
      release();
      await eventually(() => count(page, 'Active contracts'), '1');
    });

    itInChromium('keeps the contracts of an earlier offset while the ledger does not answer, and says so', async () => {
      const { sandbox, url } = await start();
      const contractId = asset(sandbox);
      const page = await openContracts(url);
      await contractRow(page, contractId).waitFor();
      const restore = await cutOff(page);
      // the answer to the request that is open ends it; the next one gets none
      asset(sandbox);
      await page.getByText('The ledger does not answer. These are its contracts at offset').waitFor();
      await waitForStatus(page, 'Retrying');
      const later = asset(sandbox);
      await contractRow(page, contractId).click();
      await page.getByRole('complementary').getByText('The ledger does not answer').waitFor();
      await restore();
      await contractRow(page, later).waitFor();
      await waitForStatus(page, 'Live');
      await page.getByRole('complementary').getByText('Created', { exact: true }).last().waitFor();
    });

    itInChromium('says why contracts cannot be read, and reads them on demand', async () => {
      let isKnown = false;
      const { sandbox, url } = await start({ checkToken: () => isKnown });
      asset(sandbox);
      const page = await openContracts(url);
      await page.getByRole('alert').filter({ hasText: 'This ledger requires a token. Enter one.' }).waitFor();
      expect(await page.getByText(none).count()).toBe(0);
      isKnown = true;
      await page.getByRole('button', { name: 'Try again' }).click();
      await eventually(() => count(page, 'Active contracts'), '1');
    });

    itInChromium('keeps its filters while the updates are shown', async () => {
      const { sandbox, url } = await start();
      sandbox.generate(60);
      const page = await openContracts(url);
      await page.getByLabel('Filter by text').fill('gold');
      await page.getByRole('link', { name: 'Updates' }).click();
      await page.locator('app-updates-page').waitFor();
      await page.getByRole('link', { name: 'Contracts' }).click();
      await eventually(() => page.getByLabel('Filter by text').inputValue(), 'gold');
      await page.locator('app-contract-cells').first().waitFor();
    });

    for (const width of [1440, 1024, 390, 320])
      itInChromium(`fits, and has no accessibility violations: ${width} pixels`, async () => {
        const { sandbox, url } = await start();
        sandbox.generate(200);
        const page = await openContracts(url);
        await page.setViewportSize({ width, height: width < 761 ? 720 : 800 });
        await page.locator('app-contract-cells').first().waitFor();
        await expectFine(page, width);
        if (width < 761) await page.getByRole('button', { name: 'Filters' }).click();
        await page.getByLabel('Party').selectOption({ label: 'dora' });
        await expectFine(page, width);
        await page.locator('app-contract-cells').first().click();
        await page.getByText('Created', { exact: true }).last().waitFor();
        await expectFine(page, width);
        await page.getByRole('button', { name: 'Exercise a choice…' }).click();
        await page.getByRole('button', { name: 'Make a key and host the party' }).click();
        await page.getByRole('textbox', { name: 'Argument' }).fill('{');
        await page.getByText('This is not JSON.').waitFor();
        await expectFine(page, width);
      });
  });
}
