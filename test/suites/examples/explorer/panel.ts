import { describe, expect } from '@jest/globals';
import { itInChromium } from '../../../helpers/browser.js';
import { eventually } from '../../../helpers/time.js';
import {
  caughtUp,
  expectFocus,
  expectShown,
  offsetsOf,
  open,
  openExplorer,
  panelOf,
  row,
  start,
  transact,
} from './explorer.js';

/** Tests of the explorer's panels, its keyboard, and its accessibility. */
describe('the panels', () => {
  itInChromium('shows an update and the life of a contract by keyboard alone', async () => {
    const { sandbox, page } = await openExplorer();
    const created = transact(sandbox, [{ CreatedEvent: { createArgument: { motto: 'once & for <all>' } } }]);
    sandbox.generate(40);
    await row(page, sandbox.ledgerEnd).waitFor();

    await page.getByRole('grid').focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    const panel = panelOf(page);
    await panel.getByText('once & for <all>').waitFor();
    await eventually(() => panel.getByRole('heading', { level: 2 }).innerText(), `Update ${created}`);

    // the panel follows the selection
    await page.keyboard.press('ArrowUp');
    const [, second] = offsetsOf(sandbox).reverse();
    await panel.getByRole('heading', { name: `Update ${second ?? '?'}` }).waitFor();
    await page.keyboard.press('ArrowDown');
    await panel.getByText('once & for <all>').waitFor();

    const contract = panel.getByRole('button', { name: /^Contract / });
    await contract.focus();
    await page.keyboard.press('Enter');
    await panel.getByText('1 event seen').waitFor();
    // the button is gone, and the focus is still in the panel
    await expectFocus(page, '.panel');
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    await expectFocus(page, '[role=grid]');
    // and back to the newest
    await page.keyboard.press('Escape');
    await row(page, sandbox.ledgerEnd).waitFor();
  });

  itInChromium('moves the focus from the filter to its results, and into an opened panel', async () => {
    const { page } = await openExplorer(60);
    await page.keyboard.press('/');
    await page.keyboard.type('asset');
    await page.keyboard.press('ArrowDown');
    await expectFocus(page, '[role=grid]');
    await eventually(() => page.getByRole('row', { selected: true }).getAttribute('aria-rowindex'), '1');
    await page.keyboard.press('Enter');
    await panelOf(page).getByText('Update id').waitFor();
    await expectFocus(page, '[role=grid]');

    await page.getByRole('button', { name: 'Submit…' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Name of the party').waitFor();
    await expectFocus(page, '.panel');
  });

  itInChromium('retries an update until the ledger is back', async () => {
    const { sandbox, page } = await openExplorer(30);
    sandbox.fault({ kind: 'status', status: 503, body: 'not yet' }, { path: /updates/, times: 3 });
    await page.getByRole('row').first().click();
    await panelOf(page).getByText('Update id').waitFor();
  });

  itInChromium('says why an update cannot be read, and reads it on demand', async () => {
    let isKnown = true;
    const { sandbox, url } = await start({ checkToken: () => isKnown });
    sandbox.generate(60);
    const page = await open(url);
    await caughtUp(page);
    const panel = panelOf(page);
    isKnown = false;
    await page.getByRole('row').first().click();
    // a token that was accepted before is tried again
    isKnown = true;
    await panel.getByText('Update id').waitFor({ timeout: 90_000 });

    sandbox.prune(sandbox.ledgerEnd);
    await page.getByRole('row').nth(1).click();
    await panel.getByText('It has been pruned.').waitFor();
    expect(await panel.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  });

  itInChromium('fits on a phone, where a panel covers the screen', async () => {
    const { sandbox, page } = await openExplorer(40);
    await page.setViewportSize({ width: 390, height: 844 });
    await expectShown(page, offsetsOf(sandbox));
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await eventually(() => page.getByText(sandbox.url.slice('http://'.length), { exact: true }).isVisible(), true);
    await page.getByRole('row').last().click();
    const panel = page.getByRole('dialog');
    await panel.getByText('Update id').waitFor();
    await eventually(() => panel.boundingBox(), { x: 0, y: 0, width: 390, height: 844 });
    await panel.getByRole('button', { name: 'Close' }).click();
    await panel.waitFor({ state: 'detached' });
  });
});
