import type { Page } from 'playwright-core';

/** What scrolling through the whole table was like. */
export interface Scrolled {
  /** How long each frame took, in milliseconds, ascending. */
  readonly frames: readonly number[];
  /** The tasks of more than 50 milliseconds. */
  readonly tasks: readonly number[];
  /** The most rows that were in the page. */
  readonly rows: number;
  /** The offset at the end of the table. */
  readonly reached: number;
}

/** Scrolls from the top to the bottom of the table: in small steps first, then in leaps. */
export const scrolled = (page: Page): Promise<Scrolled> =>
  page.evaluate(async () => {
    const viewport = document.querySelector('cdk-virtual-scroll-viewport');
    if (viewport === null) throw new Error('there is no table');
    const tasks: number[] = [];
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({
      type: 'longtask',
    });
    const frame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve));
    const rowsThere = () => [...viewport.querySelectorAll('[role="row"]')];
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
      rows = Math.max(rows, rowsThere().length);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
    const reached = Number(rowsThere().at(-1)?.id.slice('row-'.length));
    return { frames: frames.sort((a, b) => a - b), tasks, rows, reached };
  });
