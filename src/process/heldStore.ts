import {
  asapScheduler,
  catchError,
  defaultIfEmpty,
  defer,
  dematerialize,
  EMPTY,
  filter,
  finalize,
  forkJoin,
  from,
  interval,
  map,
  materialize,
  type MonoTypeOperatorFunction,
  type Observable,
  type ObservableInput,
  of,
  ReplaySubject,
  scheduled,
  share,
  startWith,
  switchMap,
  takeLast,
  takeUntil,
  tap,
  throwIfEmpty,
  timeout,
} from 'rxjs';
import { quotable } from '../errors/internal/message.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { endsProcessor, StoreError, type StoreOperation } from '../errors/process.js';
import { clampTimer, mapError, type RetrySettings, retryTransient } from '../http/retry.js';
import { HandlerFailure, isAsyncIterable, isPromise, type Processor, type Stop } from './callHandler.js';
import type { CheckpointStore, TransactionalStore, Transactions } from './CheckpointStore.js';
import { holdName } from './memoryStore.js';
import type { AnyProcessOptions, Committed } from './ProcessOptions.js';

/** The store of a processor that holds its name. */
type HeldStore = Pick<Processor, 'transactions' | 'isTransactional' | 'load$' | 'save' | 'park'>;

/**
 * How long a wait for the name must last without a failure to count as healthy, in milliseconds: rare failures must not
 * add up.
 */
const healthyWaitMs = 60_000;

/**
 * Runs work while the store is held, and releases the store afterwards. If the store fails, both begin again for as
 * long as the policy allows. A stop ends this at once, unless a transaction is open.
 */
export function whileStoreHeld(
  store$: Observable<HeldStore>,
  run: (store: HeldStore) => Observable<Committed>,
  retrying: RetrySettings,
  { stop$, isStopped }: Stop,
): Observable<Committed> {
  const { report } = retrying;
  const state: { isInTransaction: boolean; last: Committed | undefined } = { isInTransaction: false, last: undefined };
  const track = (transactions: Transactions<unknown>): Transactions<unknown> => ({
    transact: (inside) =>
      defer(() => {
        state.isInTransaction = true;
        return transactions.transact(inside);
      }).pipe(
        finalize(() => {
          state.isInTransaction = false;
        }),
      ),
  });
  const waiting$: Observable<Committed | undefined> = interval(healthyWaitMs).pipe(map(() => undefined));
  const working = (store: HeldStore): Observable<Committed | undefined> =>
    run({ ...store, transactions: track(store.transactions) });
  return store$.pipe(
    startWith(undefined),
    // each value renews the retry budget: an occasional undefined while waiting, then the commits. The end of the work
    // must end all this although the store is still held, so it is passed as a value
    switchMap((store) => (store === undefined ? waiting$ : working(store)).pipe(materialize())),
    dematerialize(),
    // a commit that is repeated because the store failed must not renew the budget
    filter((committed) => committed === undefined || isProgress(committed, state.last)),
    tap((committed) => {
      state.last = committed ?? state.last;
    }),
    // an error with `retried` has already been retried where it occurred
    retryTransient(
      retrying,
      (error) => isLedgerError(error, 'StoreError') && error.retried === undefined && !isStopped(),
    ),
    // nothing is lost: the other holder handles the updates that are not committed
    catchError((error: unknown) => {
      if (!isStopped() || !isNameLost(error)) throw error;
      report(() => ({ _tag: 'NameLost', cause: error }));
      return EMPTY;
    }),
    filter((committed) => committed !== undefined),
    takeUntil(stop$.pipe(filter(() => !state.isInTransaction))),
  );
}

const isProgress = ({ handled, offset, isCaughtUp }: Committed, last: Committed | undefined): boolean =>
  handled > 0 || offset !== last?.offset || isCaughtUp !== last.isCaughtUp;

/**
 * Waits for the name of a processor, and emits its store once. Without transactions each failed call is retried by
 * itself: starting over from the last cursor would handle updates twice. The name is then released when the last calls
 * of the run have ended, because nothing else keeps the effects of two runs apart.
 */
export function acquireStore(
  options: AnyProcessOptions,
  retrying: RetrySettings,
  calls: LastCalls,
): Observable<HeldStore> {
  const { name = '', storeTimeoutMs = 30_000 } = options;
  const store: CheckpointStore<unknown> | undefined = options.store;
  const heldStore = (transactions: Transactions<unknown>, isTransactional: boolean): HeldStore => {
    const call = (operation: StoreOperation, request: () => ObservableInput<unknown>): Observable<unknown> => {
      const result$ = defer(() => calls.stored(request())).pipe(
        lastOrUndefined(),
        timeout(clampTimer(storeTimeoutMs)),
        mapError((error) => asStoreError(operation, name, error)),
      );
      return isTransactional ? result$ : result$.pipe(retryTransient(retrying, (error) => !isNameLost(error)));
    };
    return {
      transactions,
      isTransactional,
      load$: call('load', () => store?.load(name) ?? []),
      save: (cursor, tx) => call('save', () => store?.save(name, cursor, tx) ?? []),
      park: (offset, parked, tx) => call('park', () => store?.park?.(name, offset, parked, tx) ?? []),
    };
  };
  if (store === undefined) return of(heldStore(noTransactions, false));
  const hold = <A>(request: () => Observable<A>): Observable<A> =>
    defer(request).pipe(
      throwIfEmpty(() => new Error('it completed without emitting')),
      mapError((error) => asStoreError('hold', name, error)),
    );
  if (isTransactionalStore(store))
    return hold(() => store.hold(name)).pipe(map((transactions) => heldStore(transactions, true)));
  return hold(() => store.hold?.(name) ?? holdName(store, name)).pipe(
    map(() => heldStore(noTransactions, false)),
    share({ connector: () => new ReplaySubject(1), resetOnRefCountZero: () => calls.ended$ }),
  );
}

/** Emits one value, however many a store emits: the last one. */
const lastOrUndefined = (): MonoTypeOperatorFunction<unknown> => (source) =>
  source.pipe(takeLast(1), defaultIfEmpty(undefined));

/** Returns an error of a store as a {@link StoreError}, unless it says itself how the processor ends. */
const asStoreError = (operation: StoreOperation, processor: string, error: unknown): unknown =>
  isLedgerError(error) || error instanceof HandlerFailure || endsProcessor(error)
    ? error
    : new StoreError(operation, processor, quotable(error instanceof Error ? error.message : String(error), []), error);

/** Whether a store has lost the name. The processor then waits for it again. */
const isNameLost = (error: unknown): error is StoreError =>
  isLedgerError(error, 'StoreError') && error.operation === 'hold';

const noTransactions: Transactions<unknown> = { transact: (work) => work(undefined) };

const isTransactionalStore = (store: CheckpointStore<unknown>): store is TransactionalStore<unknown> =>
  'transactions' in store;

/** The last calls that a run has made of its handler and of its store. */
interface LastCalls {
  /** Notes the result of a call of the handler, and returns it. */
  readonly handled: (result: unknown) => unknown;
  /** Notes the result of a call of the store, and returns it. */
  readonly stored: <A>(result: A) => A;
  /**
   * Emits once when both calls have ended. A Promise cannot be cancelled, so a handler that was abandoned may still
   * work. A call of the store counts as failed after its time limit, and is then not waited for.
   */
  readonly ended$: Observable<unknown>;
}

/** Returns the last calls of a new run. */
export function lastCalls(storeTimeoutMs: number): LastCalls {
  let handling: PromiseLike<unknown> | undefined;
  let storing: PromiseLike<unknown> | undefined;
  /** Reads the same values. They have ended when their source has, or when it was returned from. */
  const readNoted = async function* (values: AsyncIterable<unknown>): AsyncGenerator {
    let end = (): void => undefined;
    handling = new Promise<void>((resolve) => (end = resolve));
    try {
      yield* values;
    } finally {
      end();
    }
  };
  return {
    handled: (result) => {
      if (isPromise(result)) handling = result;
      return isAsyncIterable(result) ? readNoted(result) : result;
    },
    stored: (result) => {
      storing = isPromise(result) ? result : undefined;
      return result;
    },
    ended$: defer(() => {
      if (handling === undefined && storing === undefined)
        // after the teardown of the run, which also ends Observables
        return scheduled([true], asapScheduler);
      const stored$ = settled(storing).pipe(timeout({ first: clampTimer(storeTimeoutMs), with: () => of(true) }));
      return forkJoin([settled(handling), stored$]);
    }),
  };
}

const settled = (result: PromiseLike<unknown> | undefined): Observable<unknown> =>
  defer(() => from(Promise.allSettled([result])));
