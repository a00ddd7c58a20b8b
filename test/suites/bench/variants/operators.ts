import { filter, from, type Observable } from 'rxjs';
import { UpdateElement } from '../../../../src/codecs/Update.js';
import { toPage } from '../../../../src/feed/Page.js';
import { ofVariant, onSynchronizer, type Transaction, type Update } from '../../../../src/index.js';
import { type Load, type Outcome, stopwatch } from '../Load.js';
import { origin, pagesOf, synchronizerId } from '../ledgerText.js';

const perPage = 200;
const pages = 50;

/** Updates in memory, as a feed would emit them. */
function decodedUpdates(): readonly Update[] {
  const textOf = pagesOf('mix', 1);
  return Array.from({ length: pages }, (_, i) => {
    const json: unknown = JSON.parse(textOf(1 + i * perPage, perPage).toString());
    const range = { beginExclusive: origin + i * perPage };
    const page = toPage({
      form: { field: 'update', codec: UpdateElement },
      path: '',
      json,
      range,
      limit: perPage,
      onUndecodable: 'fail',
    });
    return page.updates.filter((update) => update._tag !== 'UndecodedUpdate');
  }).flat();
}

/** Measures a chain of operators. */
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

/** The library's operators. */
export const operators = (load: Load): Promise<Outcome> =>
  throughOperators(load, (source) => source.pipe(ofVariant('Transaction'), onSynchronizer(synchronizerId())));

/** RxJS's filter by hand. */
export function filters(load: Load): Promise<Outcome> {
  const wanted = synchronizerId();
  return throughOperators(load, (source) =>
    source.pipe(
      filter((update: Update): update is Transaction => update._tag === 'Transaction'),
      filter((transaction) => transaction.synchronizerId === wanted),
    ),
  );
}
