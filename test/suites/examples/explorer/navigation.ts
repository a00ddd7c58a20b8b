import { describe, expect } from '@jest/globals';
import { itInChromium } from '../../../helpers/browser.js';
import { eventually } from '../../../helpers/time.js';
import { expectShown, goTo, offsetsOf, openExplorer, row } from './explorer.js';

/** Tests of the explorer's pages, and of the address that names them. */
describe('the navigation', () => {
  itInChromium('opens each page by keyboard, and keeps it in the address', async () => {
    const { sandbox, page } = await openExplorer(20);
    const current = () => page.locator('nav a[aria-current=page]').allInnerTexts();
    await eventually(current, ['Updates']);

    await page.getByRole('link', { name: 'Contracts' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('app-contracts-page').waitFor();
    await eventually(current, ['Contracts']);
    expect(new URL(page.url()).hash).toBe('#contracts');
    await page.reload();
    await page.locator('app-contracts-page').waitFor();

    await goTo(page, 'Updates');
    await row(page, sandbox.ledgerEnd).waitFor();
    await page.goBack();
    await page.locator('app-contracts-page').waitFor();
    await page.goForward();
    await expectShown(page, offsetsOf(sandbox));
  });

  itInChromium.each([390, 320])('is on a screen of %i pixels', async (width) => {
    const { page } = await openExplorer(20);
    await page.setViewportSize({ width, height: 640 });
    for (const name of ['Contracts', 'Updates']) {
      const box = await page.getByRole('link', { name }).boundingBox();
      expect(box?.height).toBeGreaterThanOrEqual(40);
      expect((box?.x ?? 0) + (box?.width ?? Infinity)).toBeLessThanOrEqual(width);
      await goTo(page, name);
      await eventually(() => page.locator('nav a[aria-current=page]').allInnerTexts(), [name]);
    }
  });
});
