import { defer, map, NEVER, startWith, throwIfEmpty, type Observable, type ObservableInput } from 'rxjs';
import { mapError } from '../http/mapError.js';
import { retryTransient, type Retrying } from '../http/retryTransient.js';
import { isLedgerError } from '../errors/LedgerError.js';
import type { CheckpointStore, TransactionalStore, Transactions } from './CheckpointStore.js';
import type { AnyProcessOptions } from './ProcessOptions.js';
import type { Run } from './Run.js';
import { failedStore, storeCall } from './storeCall.js';

/** What keeps the place of a processor that holds its name. */
export type Keeping = Pick<Run, 'transactions' | 'isTransactional' | 'load$' | 'save' | 'park'>;

/**
 * Holds a processor's name, and emits what keeps its place, once. Where nothing is rolled back, a save that fails is
 * tried again by itself: to begin anew would handle the same updates again.
 */
export function keeping(options: AnyProcessOptions, retrying: Retrying): Observable<Keeping> {
  const { name = '', storeTimeoutMs = 30_000 } = options;
  const store: CheckpointStore<unknown> | undefined = options.store;
  const call = (operation: 'load' | 'save' | 'park', ask: () => ObservableInput<unknown>): Observable<unknown> =>
    storeCall(operation, name, storeTimeoutMs, ask);
  const keep = (transactions: Transactions<unknown>, isTransactional: boolean): Keeping => {
    const again = isTransactional ? (source: Observable<unknown>) => source : retryTransient<unknown>(retrying);
    return {
      transactions,
      isTransactional,
      load$: call('load', () => store?.load(name) ?? []).pipe(again),
      save: (cursor, tx) => call('save', () => store?.save(name, cursor, tx) ?? []).pipe(again),
      park: (offset, parked, tx) => call('park', () => store?.park?.(name, offset, parked, tx) ?? []).pipe(again),
    };
  };
  if (!isTransactionalStore(store)) return NEVER.pipe(startWith(keep(direct, false)));
  return defer(() => store.hold(name)).pipe(
    throwIfEmpty(() => new Error('it ended without the name')),
    mapError((error) => (isLedgerError(error) ? error : failedStore('hold', name, error))),
    map((transactions) => keep(transactions, true)),
  );
}

const isTransactionalStore = (store: CheckpointStore<unknown> | undefined): store is TransactionalStore<unknown> =>
  store !== undefined && 'hold' in store;

/** No transactions: what is done is done. */
const direct: Transactions<unknown> = { transact: (work) => work(undefined) };
