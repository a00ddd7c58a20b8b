import { filter } from 'rxjs';
import type { Transaction, Update } from '../../../../src/index.js';
import { synchronizerId } from '../elements.js';
import type { Load, Outcome } from '../Load.js';
import { throughOperators } from '../throughOperators.js';

/** What anybody would write in their place. */
export function measure(load: Load): Promise<Outcome> {
  const wanted = synchronizerId();
  return throughOperators(load, (source) =>
    source.pipe(
      filter((update: Update): update is Transaction => update._tag === 'Transaction'),
      filter((transaction) => transaction.synchronizerId === wanted),
    ),
  );
}
