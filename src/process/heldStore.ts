import {
  asapScheduler,
  concatMap,
  defaultIfEmpty,
  defer,
  distinctUntilChanged,
  finalize,
  forkJoin,
  from,
  map,
  merge,
  type MonoTypeOperatorFunction,
  type Observable,
  type ObservableInput,
  of,
  ReplaySubject,
  scheduled,
  share,
  Subject,
  takeLast,
  throwIfEmpty,
  timeout,
} from 'rxjs';
import { quotable } from '../errors/internal/message.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { endsProcessor, StoreError, type StoreOperation } from '../errors/process.js';
import { clampTimer, mapError, type RetrySettings, retryTransient } from '../http/retry.js';
import { HandlerFailure, isAsyncIterable, isPromise, type Processor } from './callHandler.js';
import type { CheckpointStore, TransactionalStore, Transactions } from './CheckpointStore.js';
import { holdName } from './memoryStore.js';
import type { AnyProcessOptions } from './ProcessOptions.js';

/** The store of a processor that holds its name or awaits it. */
export interface HeldStore extends Pick<Processor, 'transactions' | 'isTransactional' | 'load$' | 'save' | 'park'> {
  /** Whether another processor holds the name. */
  readonly isStandby: boolean;
}

/**
 * Waits for the name of a processor, and emits its store once. Without transactions each failed call is retried by
 * itself: starting over from the last cursor would handle updates twice. The name is then released when the last calls
 * of the run have ended, because nothing else keeps the effects of two runs apart.
 *
 * @param prepare - prepares the handler, before the processor holds or awaits its name
 */
export function acquireStore(
  options: AnyProcessOptions,
  retrying: RetrySettings,
  calls: LastCalls,
  prepare?: () => ObservableInput<unknown>,
): Observable<HeldStore> {
  const { name = '', storeTimeoutMs = 30_000 } = options;
  const store: CheckpointStore<unknown> | undefined = options.store;
  const heldStore = (transactions: Transactions<unknown>, isTransactional: boolean, isStandby = false): HeldStore => {
    const call = (operation: StoreOperation, request: () => ObservableInput<unknown>): Observable<unknown> => {
      const result$ = defer(() => calls.stored(request())).pipe(
        lastOrUndefined(),
        timeout(clampTimer(storeTimeoutMs)),
        mapError((error) => asStoreError(operation, name, error)),
      );
      return isTransactional ? result$ : result$.pipe(retryTransient(retrying, (error) => !isNameLost(error)));
    };
    return {
      isStandby,
      transactions,
      isTransactional,
      load$: call('load', () => store?.load(name) ?? []),
      save: (cursor, tx) => call('save', () => store?.save(name, cursor, tx) ?? []),
      park: (offset, parked, tx) => call('park', () => store?.park?.(name, offset, parked, tx) ?? []),
    };
  };
  const prepared$ =
    prepare === undefined
      ? of(undefined)
      : defer(prepare).pipe(
          mapError((error) => asStoreError('prepare', name, error)),
          lastOrUndefined(),
        );
  const hold = <A>(request: (standBy: () => void) => Observable<A>): Observable<A | 'standby'> =>
    prepared$.pipe(
      concatMap(() => withStandby(request)),
      throwIfEmpty(() => new Error('it completed without emitting')),
      mapError((error) => asStoreError('hold', name, error)),
    );
  if (store === undefined) return prepared$.pipe(map(() => heldStore(noTransactions, false)));
  if (isTransactionalStore(store))
    return hold((standBy) => store.hold(name, standBy)).pipe(
      map((held) => (held === 'standby' ? heldStore(noTransactions, true, true) : heldStore(held, true))),
    );
  return hold((standBy) => store.hold?.(name, standBy) ?? holdName(store, name, standBy)).pipe(
    map((held) => heldStore(noTransactions, false, held === 'standby')),
    share({ connector: () => new ReplaySubject(1), resetOnRefCountZero: () => calls.ended$ }),
  );
}

/** Emits `'standby'` when the request reports that another processor holds the name, and then what it emits. */
const withStandby = <A>(request: (standBy: () => void) => Observable<A>): Observable<A | 'standby'> =>
  defer(() => {
    const standby$ = new Subject<'standby'>();
    const held$ = request(() => {
      standby$.next('standby');
    });
    return merge(
      standby$,
      held$.pipe(
        finalize(() => {
          standby$.complete();
        }),
      ),
    ).pipe(distinctUntilChanged());
  });

/** Emits one value, however many a store emits: the last one. */
const lastOrUndefined = (): MonoTypeOperatorFunction<unknown> => (source) =>
  source.pipe(takeLast(1), defaultIfEmpty(undefined));

/** Returns an error of a store as a {@link StoreError}, unless it says itself how the processor ends. */
export const asStoreError = (operation: StoreOperation, processor: string, error: unknown): unknown =>
  isLedgerError(error) || error instanceof HandlerFailure || endsProcessor(error)
    ? error
    : new StoreError(operation, processor, quotable(error instanceof Error ? error.message : String(error), []), error);

/** Whether a store has lost the name. The processor then waits for it again. */
export const isNameLost = (error: unknown): error is StoreError =>
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
  /** Gives up waiting for the handler. */
  readonly abandonHandler: () => void;
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
    abandonHandler: () => {
      handling = undefined;
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
