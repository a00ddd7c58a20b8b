import type { Page } from 'playwright-core';

/** The offsets of all rows, the newest first, as somebody sees them who scrolls from the top to the bottom. */
export const offsetsOnScreen = (page: Page): Promise<readonly number[]> =>
  page.locator('cdk-virtual-scroll-viewport').evaluate(async (viewport) => {
    const rendered = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 20)));
    const seen: number[] = [];
    for (let top = 0; ; top += viewport.clientHeight / 2) {
      viewport.scrollTop = top;
      await rendered();
      // not a set: a row that stands there twice is to be found
      const offsets = [...viewport.querySelectorAll('[role="row"]')].map(({ id }) => Number(id.slice('row-'.length)));
      if (new Set(offsets).size !== offsets.length) throw new Error('an update is in the table twice');
      seen.push(...offsets.filter((offset) => offset < (seen.at(-1) ?? Infinity)));
      if (top + viewport.clientHeight >= viewport.scrollHeight) return seen;
    }
  });
