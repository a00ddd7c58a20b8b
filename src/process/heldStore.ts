import {
  defaultIfEmpty,
  defer,
  map,
  NEVER,
  type Observable,
  type ObservableInput,
  startWith,
  takeLast,
  throwIfEmpty,
  timeout,
} from 'rxjs';
import { quotable } from '../errors/internal/message.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { StoreError, type StoreOperation } from '../errors/process.js';
import { clampTimer, mapError, type Retrying, retryTransient } from '../http/retry.js';
import { HandlerFailure } from './callHandler.js';
import type { CheckpointStore, TransactionalStore, Transactions } from './CheckpointStore.js';
import type { AnyProcessOptions } from './ProcessOptions.js';
import type { Processor } from './Processor.js';

/** What keeps the place of a processor that holds its name. */
export type HeldStore = Pick<Processor, 'transactions' | 'isTransactional' | 'load$' | 'save' | 'park'>;

/** No transactions: what is done is done. */
const direct: Transactions<unknown> = { transact: (work) => work(undefined) };

/**
 * Holds a processor's name, and emits what keeps its place, once. Where nothing is rolled back, a save that fails is
 * tried again by itself: to begin anew would handle the same updates again.
 */
export function acquireStore(options: AnyProcessOptions, retrying: Retrying): Observable<HeldStore> {
  const { name = '', storeTimeoutMs = 30_000 } = options;
  const store: CheckpointStore<unknown> | undefined = options.store;
  const call = (operation: 'load' | 'save' | 'park', ask: () => ObservableInput<unknown>): Observable<unknown> =>
    callStore(operation, name, storeTimeoutMs, ask);
  const keep = (transactions: Transactions<unknown>, isTransactional: boolean): HeldStore => {
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

/** Asks a store for something: emits its last value once it is done. A failure is a {@link StoreError}, unless the store knows better. */
const callStore = (
  operation: StoreOperation,
  processor: string,
  withinMs: number,
  ask: () => ObservableInput<unknown>,
): Observable<unknown> =>
  defer(ask).pipe(
    takeLast(1),
    defaultIfEmpty(undefined),
    timeout(clampTimer(withinMs)),
    mapError((error) =>
      isLedgerError(error) || error instanceof HandlerFailure ? error : failedStore(operation, processor, error),
    ),
  );

/** The error of a store that failed with something of its own. */
const failedStore = (operation: StoreOperation, processor: string, error: unknown): StoreError =>
  new StoreError(operation, processor, quotable(error instanceof Error ? error.message : String(error), []), error);

const isTransactionalStore = (store: CheckpointStore<unknown> | undefined): store is TransactionalStore<unknown> =>
  store !== undefined && 'hold' in store;
