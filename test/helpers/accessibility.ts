import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** The violations of WCAG 2.2 (A and AA) on a page that axe detects: the rule, and the element. */
export async function findAccessibilityViolations(page: Page): Promise<readonly string[]> {
  // in a call of its own, since the page's policy allows only its own scripts
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { axe: loaded } = globalThis as unknown as { readonly axe: typeof axe };
    const { violations } = await loaded.run({ resultTypes: ['violations'] });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${String(target)}: ${failureSummary}`),
    );
  });
}
