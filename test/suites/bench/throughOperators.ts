import { from, type Observable } from 'rxjs';
import type { Update } from '../../../src/index.js';
import { toPage } from '../../../src/feed/Page.js';
import { origin, pagesOf } from './ledgerText.js';
import type { Load, Outcome } from './Load.js';
import { stopwatch } from './stopwatch.js';

const perPage = 200;
const pages = 50;

/** Updates in memory, as a feed would emit them. */
function decodedUpdates(): readonly Update[] {
  const textOf = pagesOf('mix', 1);
  return Array.from({ length: pages }, (_, i) => {
    const json: unknown = JSON.parse(textOf(1 + i * perPage, perPage).toString());
    const range = { beginExclusive: origin + i * perPage };
    const page = toPage({ path: '', json, range, limit: perPage, onInvalid: 'fail' });
    return page.updates.filter((update) => update._tag !== 'InvalidUpdate');
  }).flat();
}

/** The time that each update takes through a chain of operators. */
export function throughOperators(
  { count }: Load,
  chain: (source: Observable<Update>) => Observable<Update>,
): Promise<Outcome> {
  const updates = decodedUpdates();
  const watch = stopwatch(count);
  let passed = 0;
  while (watch.count() < count) {
    chain(from(updates)).subscribe(() => (passed += 1));
    watch.add(updates.length);
  }
  return Promise.resolve({ cost: watch.each(), figures: { passed } });
}
