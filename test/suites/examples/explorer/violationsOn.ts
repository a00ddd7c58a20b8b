import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

/** What breaks the rules of WCAG 2.2 (A and AA) on a page, as far as a program can tell: the rule, and where. */
export async function violationsOn(page: Page): Promise<readonly string[]> {
  // as a call of its own, since the page's policy allows no scripts but its own
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { axe: there } = globalThis as unknown as { readonly axe: { run(): Promise<AxeResults> } };
    const { violations } = await there.run();
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${String(target)}: ${failureSummary}`),
    );
  });
}
