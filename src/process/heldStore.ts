import {
  defaultIfEmpty,
  defer,
  EMPTY,
  map,
  type MonoTypeOperatorFunction,
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
import { clampTimer, mapError, type RetrySettings, retryTransient } from '../http/retry.js';
import { HandlerFailure } from './callHandler.js';
import type { CheckpointStore, TransactionalStore, Transactions } from './CheckpointStore.js';
import type { FeedPlace } from './Feed.js';
import type { AnyProcessOptions } from './ProcessOptions.js';
import type { Processor } from './Processor.js';

/** The store of a processor that holds its name. */
export type HeldStore = Pick<Processor, 'transactions' | 'isTransactional' | 'load$' | 'save' | 'park'>;

/**
 * Waits for the name of a processor, and emits its store once. Without transactions each failed call is retried by
 * itself: starting over from the last cursor would handle updates twice.
 */
export function acquireStore(
  options: AnyProcessOptions,
  place: FeedPlace | undefined,
  retrying: RetrySettings,
): Observable<HeldStore> {
  const { name = '', storeTimeoutMs = 30_000 } = options;
  const store: CheckpointStore<unknown> | undefined = options.store;
  const heldStore = (transactions: Transactions<unknown>, isTransactional: boolean): HeldStore => {
    const call = (
      operation: 'load' | 'save' | 'park',
      request: () => ObservableInput<unknown>,
    ): Observable<unknown> => {
      const result$ = callStore(operation, name, storeTimeoutMs, request);
      return isTransactional ? result$ : result$.pipe(retryTransient(retrying));
    };
    return {
      transactions,
      isTransactional,
      load$: call('load', () => store?.load(name) ?? []),
      save: (cursor, tx) => call('save', () => store?.save(name, cursor, tx) ?? []),
      park: (offset, parked, tx) => call('park', () => store?.park?.(name, offset, parked, tx) ?? []),
    };
  };
  if (store === undefined && place !== undefined) return place.hold().pipe(map(() => heldPlace(place)));
  if (!isTransactionalStore(store)) return NEVER.pipe(startWith(heldStore(noTransactions, false)));
  return defer(() => store.hold(name)).pipe(
    throwIfEmpty(() => new Error('it completed without emitting')),
    mapError((error) => (isLedgerError(error) ? error : toStoreError('hold', name, error))),
    map((transactions) => heldStore(transactions, true)),
  );
}

/** Wraps the place of a feed as a store. The feed retries its calls. */
const heldPlace = (place: FeedPlace): HeldStore => ({
  transactions: noTransactions,
  isTransactional: false,
  load$: defer(() => place.load()).pipe(lastOrUndefined()),
  save: (cursor) => defer(() => place.save(cursor)).pipe(lastOrUndefined()),
  park: () => EMPTY,
});

const noTransactions: Transactions<unknown> = { transact: (work) => work(undefined) };

/** Calls a store and emits its last value when it completes. Converts errors of the store to a {@link StoreError}. */
const callStore = (
  operation: StoreOperation,
  processor: string,
  timeoutMs: number,
  request: () => ObservableInput<unknown>,
): Observable<unknown> =>
  defer(request).pipe(
    lastOrUndefined(),
    timeout(clampTimer(timeoutMs)),
    mapError((error) =>
      isLedgerError(error) || error instanceof HandlerFailure ? error : toStoreError(operation, processor, error),
    ),
  );

/** Emits one value, however many a store emits: the last one. */
const lastOrUndefined = (): MonoTypeOperatorFunction<unknown> => (source) =>
  source.pipe(takeLast(1), defaultIfEmpty(undefined));

const toStoreError = (operation: StoreOperation, processor: string, error: unknown): StoreError =>
  new StoreError(operation, processor, quotable(error instanceof Error ? error.message : String(error), []), error);

const isTransactionalStore = (store: CheckpointStore<unknown> | undefined): store is TransactionalStore<unknown> =>
  store !== undefined && 'hold' in store;
