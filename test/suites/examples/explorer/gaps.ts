import { describe } from '@jest/globals';
import { itInChromium } from '../../../helpers/browser.js';
import { eventually } from '../../../helpers/time.js';
import { asset, contractRow, openContracts } from './contractsPage.js';
import { caughtUp, expectShown, offsetsOf, open, openExplorer, row, start, waitForStatus } from './explorer.js';

/** Tests of what the explorer shows of a ledger that was restored or pruned, or that has an invalid update. */
export function describeGaps(): void {
  describe('a gap', () => {
    itInChromium('restarts on a ledger that was restored', async () => {
      const { sandbox, url, page } = await openExplorer(100);
      await row(page, sandbox.ledgerEnd).waitFor();
      await page.goto('about:blank');
      sandbox.restore(40);
      sandbox.generate(120, { seed: 9 });
      await page.goto(url);
      await page.getByRole('alert').getByText('Another ledger has taken the place').waitFor();
      await expectShown(page, offsetsOf(sandbox));
    });

    itInChromium('drops the filter and the scroll position of a ledger that was restored', async () => {
      const { sandbox, url } = await start();
      sandbox.generate(40);
      const { party } = sandbox.externalParty('frank');
      for (let times = 0; times < 60; times += 1)
        sandbox.append({ Transaction: { value: { events: [{ CreatedEvent: { signatories: [party] } }] } } });
      const page = await open(url);
      await caughtUp(page);
      await page.getByLabel('Party').selectOption({ label: 'frank' });
      await row(page, sandbox.ledgerEnd).click();
      await page.getByRole('button', { name: 'Newest' }).waitFor();

      await page.getByRole('button', { name: 'Pause' }).click();
      sandbox.restore(40);
      sandbox.generate(120, { seed: 9 });
      await page.getByRole('button', { name: 'Resume' }).click();
      await page.getByRole('alert').getByText('Another ledger has taken the place').waitFor();
      await row(page, sandbox.ledgerEnd).waitFor();
      await page.getByRole('button', { name: 'Newest' }).waitFor({ state: 'detached' });
      await eventually(() => page.getByRole('option', { name: 'frank' }).count(), 0);
      await expectShown(page, offsetsOf(sandbox));
    });

    itInChromium('shows on both pages that another ledger has taken the place of the first', async () => {
      const { sandbox, url } = await start();
      sandbox.generate(40);
      const first = asset(sandbox);
      const page = await openContracts(url);
      await contractRow(page, first).waitFor();
      sandbox.restore(0);
      const second = asset(sandbox);
      await page.getByRole('alert').getByText('Another ledger has taken the place').waitFor();
      await contractRow(page, second).waitFor();
      await eventually(() => page.locator('app-contract-cells').count(), 1);
      await page.getByRole('link', { name: 'Updates' }).click();
      await page.getByRole('alert').getByText('Another ledger has taken the place').waitFor();
      await expectShown(page, offsetsOf(sandbox));
      await page.getByRole('button', { name: 'Dismiss' }).click();
      await page.getByRole('link', { name: 'Contracts' }).click();
      await contractRow(page, second).waitFor();
      await eventually(() => page.getByText('Another ledger has taken the place').count(), 0);
    });

    itInChromium('keeps no update of a ledger that was replaced while the feed was paused', async () => {
      const { sandbox, page } = await openExplorer(40);
      await page.getByRole('button', { name: 'Pause' }).click();
      await page.getByRole('link', { name: 'Contracts' }).click();
      await waitForStatus(page, 'Live');
      sandbox.restore(0);
      const second = asset(sandbox);
      await page.getByRole('alert').getByText('Another ledger has taken the place').waitFor();
      await contractRow(page, second).waitFor();
      await page.getByRole('link', { name: 'Updates' }).click();
      await page.getByRole('alert').getByText('Another ledger has taken the place').waitFor();
      await expectShown(page, []);
      await page.getByRole('button', { name: 'Resume' }).click();
      await expectShown(page, offsetsOf(sandbox));
    });

    itInChromium('says which updates were pruned, and continues after them', async () => {
      const { sandbox, url } = await start();
      sandbox.generate(100);
      sandbox.prune(60);
      const page = await open(url);
      await page.getByRole('alert').getByText('have been pruned').waitFor();
      await expectShown(
        page,
        offsetsOf(sandbox).filter((offset) => offset > 60),
      );
    });

    itInChromium('says which update it cannot decode, and shows the others', async () => {
      const { sandbox, url } = await start();
      sandbox.generate(20);
      const position = sandbox.append({
        Transaction: { value: { events: [{ CreatedEvent: { createdAt: 'once upon a time' } }] } },
      });
      sandbox.generate(20);
      const page = await open(url);
      await page.getByRole('alert').getByText(`Update ${position} cannot be read`).waitFor();
      await expectShown(
        page,
        offsetsOf(sandbox).filter((offset) => offset !== position),
      );
    });
  });
}
