import { describe } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { Sandbox } from '../../../../src/sandbox/index.js';
import { itInChromium } from '../../../helpers/browser.js';
import { eventually } from '../../../helpers/time.js';
import { asset, contractRow } from './contractsPage.js';
import {
  expectShown,
  goTo,
  offsetsOf,
  openContracts,
  openExplorer,
  press,
  row,
  transact,
  waitForStatus,
} from './explorer.js';

const replaced = 'Another ledger has taken the place';
/** Puts another ledger, of another participant, in the place of one. */
const replaceLedger = (sandbox: Sandbox): void => {
  sandbox.restore(0);
  sandbox.configure({ participantId: 'participant2::1220ab' });
};
const isReplaced = (page: Page): Promise<void> => page.getByRole('alert').getByText(replaced).waitFor();

/** Tests of what the explorer shows of a ledger that was restored or pruned, or that has an invalid update. */
describe('a gap', () => {
  itInChromium('restarts on a ledger that was restored', async () => {
    const { sandbox, url, page } = await openExplorer(100);
    await page.goto('about:blank');
    sandbox.restore(40);
    sandbox.generate(120, { seed: 9 });
    await page.goto(url);
    await isReplaced(page);
    await expectShown(page, offsetsOf(sandbox));
  });

  itInChromium('drops the filter and the scroll position of a ledger that was restored', async () => {
    const { sandbox, page } = await openExplorer(40);
    const { party } = sandbox.externalParty('frank');
    for (let times = 0; times < 60; times += 1) transact(sandbox, [{ CreatedEvent: { signatories: [party] } }]);
    await page.getByLabel('Party').selectOption({ label: 'frank' });
    await row(page, sandbox.ledgerEnd).click();
    await page.getByRole('button', { name: 'Newest' }).waitFor();

    await press(page, 'Pause');
    sandbox.restore(40);
    sandbox.generate(120, { seed: 9 });
    await press(page, 'Resume');
    await isReplaced(page);
    await row(page, sandbox.ledgerEnd).waitFor();
    await page.getByRole('button', { name: 'Newest' }).waitFor({ state: 'detached' });
    await eventually(() => page.getByRole('option', { name: 'frank' }).count(), 0);
    await expectShown(page, offsetsOf(sandbox));
  });

  itInChromium('shows on both pages that another ledger has taken the place of the first', async () => {
    const { sandbox, page } = await openContracts(40);
    const first = asset(sandbox);
    await contractRow(page, first).waitFor();
    replaceLedger(sandbox);
    const second = asset(sandbox);
    await isReplaced(page);
    await contractRow(page, second).waitFor();
    await eventually(() => page.locator('app-contract-cells').count(), 1);
    await goTo(page, 'Updates');
    await isReplaced(page);
    await expectShown(page, offsetsOf(sandbox));
    await press(page, 'Dismiss');
    await goTo(page, 'Contracts');
    await contractRow(page, second).waitFor();
    await eventually(() => page.getByText(replaced).count(), 0);
  });

  itInChromium('keeps no update of a ledger that was replaced while the feed was paused', async () => {
    const { sandbox, page } = await openExplorer(40);
    await press(page, 'Pause');
    await goTo(page, 'Contracts');
    await waitForStatus(page, 'Live');
    replaceLedger(sandbox);
    const second = asset(sandbox);
    await isReplaced(page);
    await contractRow(page, second).waitFor();
    await goTo(page, 'Updates');
    await isReplaced(page);
    await expectShown(page, []);
    await press(page, 'Resume');
    await expectShown(page, offsetsOf(sandbox));
  });

  itInChromium('says which updates were pruned, and continues after them', async () => {
    const { sandbox, page } = await openExplorer((ledger) => {
      ledger.generate(100);
      ledger.prune(60);
    });
    await page.getByRole('alert').getByText('have been pruned').waitFor();
    await expectShown(
      page,
      offsetsOf(sandbox).filter((offset) => offset > 60),
    );
  });

  itInChromium('says which update it cannot decode, and shows the others', async () => {
    const { sandbox, page } = await openExplorer(20);
    const position = transact(sandbox, [{ CreatedEvent: { createdAt: 'once upon a time' } }]);
    sandbox.generate(20);
    await page.getByRole('alert').getByText(`Update ${position} cannot be read`).waitFor();
    await expectShown(
      page,
      offsetsOf(sandbox).filter((offset) => offset !== position),
    );
  });
});
