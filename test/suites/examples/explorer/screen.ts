import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { findAccessibilityViolations } from '../../../helpers/accessibility.js';

/** The offsets of all rows, the newest first, as a user sees them who scrolls from the top to the bottom. */
export const readOffsets = (page: Page): Promise<readonly number[]> =>
  page.locator('cdk-virtual-scroll-viewport').evaluate(async (viewport) => {
    const rendered = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 20)));
    const seen: number[] = [];
    for (let top = 0; ; top += viewport.clientHeight / 2) {
      viewport.scrollTop = top;
      await rendered();
      // not a set, which would hide a repeated row
      const offsets = [...viewport.querySelectorAll('[role="row"]')].map(({ id }) => Number(id.slice('row-'.length)));
      if (new Set(offsets).size !== offsets.length) throw new Error('an update is in the table twice');
      seen.push(...offsets.filter((offset) => offset < (seen.at(-1) ?? Infinity)));
      if (top + viewport.clientHeight >= viewport.scrollHeight) return seen;
    }
  });

/** Measurements of scrolling through the whole table. */
export interface ScrollMeasurements {
  /** The time of each frame, in milliseconds, ascending. */
  readonly frames: readonly number[];
  /** The tasks of more than 50 milliseconds. */
  readonly tasks: readonly number[];
  /** The most rows that were in the page. */
  readonly rows: number;
  /** The offset at the end of the table. */
  readonly reached: number;
}

/** Scrolls from the top to the bottom of the table: in small steps first, then in leaps. */
export const scrollThrough = (page: Page): Promise<ScrollMeasurements> =>
  page.evaluate(async () => {
    const viewport = document.querySelector('cdk-virtual-scroll-viewport');
    if (viewport === null) throw new Error('there is no table');
    const tasks: number[] = [];
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({
      type: 'longtask',
    });
    const frame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve));
    const rowsInPage = () => [...viewport.querySelectorAll('[role="row"]')];
    const [small, leaps] = [200, 200];
    const frames: number[] = [];
    let rows = 0;
    let last = await frame();
    for (let step = 0; step <= small + leaps; step += 1) {
      const bottom = viewport.scrollHeight - viewport.clientHeight;
      viewport.scrollTop = step < small ? step * 120 : (bottom * (step - small)) / leaps;
      const now = await frame();
      frames.push(now - last);
      last = now;
      rows = Math.max(rows, rowsInPage().length);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
    const reached = Number(rowsInPage().at(-1)?.id.slice('row-'.length));
    return { frames: frames.sort((a, b) => a - b), tasks, rows, reached };
  });

const screens = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
];

/** Shows something on each screen, where nothing may be beyond the edge, and nothing inaccessible. */
export async function inEachScreen(
  page: Page,
  show: (screen: { readonly width: number }) => Promise<void>,
): Promise<void> {
  for (const screen of screens) {
    await page.setViewportSize(screen);
    await show(screen);
    await expectFine(page, screen.width);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

/** Expects nothing beyond the edge of the screen, and no violation, light and dark. */
export async function expectFine(page: Page, width: number): Promise<void> {
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  expect(await findViolationsInEachTheme(page)).toEqual([]);
}

/** The violations of accessibility of a page, light and dark. */
export async function findViolationsInEachTheme(page: Page): Promise<readonly string[]> {
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await findAccessibilityViolations(page, 'colors');
  await page.emulateMedia({ colorScheme: 'light' });
  return [...dark, ...(await findAccessibilityViolations(page))];
}
