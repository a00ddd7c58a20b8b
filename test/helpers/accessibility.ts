import axe from 'axe-core';
import type { Page } from 'playwright-core';

/**
 * The violations of WCAG 2.2 (A and AA) on a page that axe detects: the rule, and the element.
 *
 * @param rules - All, or those that depend on a theme alone.
 */
export async function findAccessibilityViolations(
  page: Page,
  rules: 'all' | 'colors' = 'all',
): Promise<readonly string[]> {
  // in a call of its own, since the page's policy allows only its own scripts
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe.source);
  return page.evaluate(
    async (runOnly) => {
      const { axe: loaded } = globalThis as unknown as { readonly axe: typeof axe };
      const { violations } = await loaded.run({ resultTypes: ['violations'], ...(runOnly && { runOnly }) });
      return violations.flatMap(({ id, nodes }) =>
        nodes.map(({ target, failureSummary }) => `${id}: ${String(target)}: ${failureSummary}`),
      );
    },
    rules === 'colors' ? ['color-contrast', 'link-in-text-block'] : undefined,
  );
}
