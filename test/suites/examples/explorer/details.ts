import { describe, expect } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { itInChromium } from '../../../helpers/browser.js';
import { eventually, until } from '../../../helpers/time.js';
import {
  caughtUp,
  cutOff,
  goTo,
  offsetsOf,
  open,
  openExplorer,
  panelOf,
  press,
  row,
  start,
  transact,
  valueOf,
  waitForStatus,
} from './explorer.js';

/** Tests of what the explorer shows of one update and of one contract. */
describe('the details', () => {
  itInChromium('says that the ledger does not answer, and reads when it does', async () => {
    const { sandbox, page } = await openExplorer(30);
    const reconnect = await cutOff(page);
    await waitForStatus(page, 'Retrying');
    await row(page, sandbox.ledgerEnd).click();
    const panel = panelOf(page);
    await panel.getByText('The ledger does not answer').waitFor();
    await reconnect();
    await panel.getByText('Update id').waitFor();
  });

  itInChromium('leads to the newer and the older update of the table', async () => {
    const { sandbox, page } = await openExplorer(200);
    const [newest = 0, second = 0] = offsetsOf(sandbox);
    await row(page, newest).click();
    const heading = panelOf(page).getByRole('heading', { level: 2 });
    const [newer, older] = ['Newer update', 'Older update'].map((name) => page.getByRole('button', { name }));
    if (newer === undefined || older === undefined) throw new Error('there are two');
    expect(await newer.getAttribute('aria-disabled')).toBe('true');
    await older.focus();
    await page.keyboard.press('Enter');
    await eventually(() => heading.innerText(), `Update ${second}`);
    await newer.click();
    await eventually(() => heading.innerText(), `Update ${newest}`);

    // beyond the visible rows the table follows
    for (let steps = 0; steps < 40; steps += 1) await older.click();
    const reached = offsetsOf(sandbox)[40] ?? 0;
    await eventually(() => heading.innerText(), `Update ${reached}`);
    await eventually(() => page.getByRole('row', { selected: true }).getAttribute('id'), `row-${reached}`);
  });

  itInChromium('keeps the selected row visible when the panel makes the table narrow', async () => {
    const { sandbox, url } = await start();
    sandbox.generate(200);
    const page = await open(url);
    await page.setViewportSize({ width: 1024, height: 768 });
    await caughtUp(page);
    const offset = offsetsOf(sandbox)[14] ?? 0;
    await row(page, offset).click();
    await page.getByText('Update id').waitFor();
    const table = await page.getByRole('grid').boundingBox();
    await until(async () => {
      const box = await row(page, offset).boundingBox();
      const bottom = (table?.y ?? 0) + (table?.height ?? 0);
      return box !== null && box.height > 40 && box.y >= (table?.y ?? 0) && box.y + box.height <= bottom;
    });
  });

  itInChromium.each([1200, 1024, 900])('leaves the row where it is when its panel opens: %i pixels', async (width) => {
    const { sandbox, page } = await openExplorer(200);
    await page.setViewportSize({ width, height: 800 });
    const offset = offsetsOf(sandbox)[8] ?? 0;
    await expectSamePlace(row(page, offset), () => page.getByText('Update id').waitFor());
    await goTo(page, 'Contracts');
    const contract = page.locator('app-contract-cells').nth(8);
    await contract.waitFor();
    const id = (await contract.getAttribute('id')) ?? '';
    await expectSamePlace(page.locator(`#${id}`), () => panelOf(page).getByText('Created').first().waitFor());
  });

  itInChromium('copies ids', async () => {
    const { sandbox, page } = await openExplorer();
    transact(sandbox, [{ CreatedEvent: { createArgument: { note: 'one' } } }]);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await row(page, sandbox.ledgerEnd).click();
    const copied = async (label: string): Promise<string> => {
      await page.getByRole('button', { name: `Copy the ${label}`, exact: true }).click();
      return page.evaluate(() => navigator.clipboard.readText());
    };
    const [update] = sandbox.updates;
    if (update === undefined) throw new Error('there is one');
    expect(await copied('update id')).toBe(valueOf(update).updateId);
    expect(JSON.stringify(update)).toContain(`"contractId":"${await copied('contract id')}"`);
    expect(JSON.parse(await copied('arguments'))).toEqual({ note: 'one' });
  });

  itInChromium('names a template by its package and entity, and its package id on demand', async () => {
    const { sandbox, page } = await openExplorer();
    const templateId = `${'ab'.repeat(32)}:Main:Asset`;
    transact(sandbox, [{ CreatedEvent: { templateId, packageName: 'mine' } }]);
    await row(page, sandbox.ledgerEnd).getByText('mine', { exact: true }).waitFor();
    await page.getByLabel('Template').selectOption('mine:Main:Asset');
    await row(page, sandbox.ledgerEnd).click();
    const panel = panelOf(page);
    await panel.getByText('mine:Main:Asset').waitFor();
    await eventually(() => panel.getByText(templateId).isVisible(), false);
    await panel.getByText('mine:Main:Asset').click();
    await panel.getByText(templateId).waitFor();
    await press(page, /^Contract /);
    await panel.locator('dl').getByText('mine:Main:Asset').waitFor();
  });
});

/** Opens the panel of a row, and expects the row where it was. */
async function expectSamePlace(opened: Locator, isOpen: () => Promise<void>): Promise<void> {
  const { y, width } = (await opened.boundingBox()) ?? { y: 0, width: 0 };
  await opened.click();
  await isOpen();
  await until(async () => ((await opened.boundingBox())?.width ?? width) < width);
  await eventually(async () => (await opened.boundingBox())?.y, y);
}
