import { origin, pagesOf } from './ledgerText.js';
import type { Load, Outcome } from './Load.js';
import { stopwatch } from './stopwatch.js';

const perPage = 200;
const texts = 16;

/** Parses pages that differ, and has something done with each; where none of them stays, as in a feed. */
export function parseRead({ kind, count }: Load, read: (json: unknown, first: number) => unknown): Promise<Outcome> {
  const pageOf = pagesOf(kind, 1);
  const pages = Array.from({ length: texts }, (_, i) => {
    const first = 1 + i * 237;
    return { first, text: pageOf(first, perPage).toString('latin1') };
  });
  const watch = stopwatch(count);
  while (watch.count() < count) {
    for (const { first, text } of pages) {
      const page = read(JSON.parse(text), origin + first);
      if (!Array.isArray(page) || page.length !== perPage) throw new Error('a page is not whole');
      watch.add(perPage);
    }
  }
  return Promise.resolve({ cost: watch.each() });
}
