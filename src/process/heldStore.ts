import {
  concatMap,
  defaultIfEmpty,
  defer,
  distinctUntilChanged,
  finalize,
  map,
  merge,
  type MonoTypeOperatorFunction,
  type Observable,
  type ObservableInput,
  of,
  ReplaySubject,
  share,
  Subject,
  takeLast,
  throwIfEmpty,
  timeout,
} from 'rxjs';
import { quotable } from '../errors/internal/message.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { endsProcessor, StoreError, type StoreOperation } from '../errors/process.js';
import { textOf } from '../errors/textOf.js';
import { clampTimer, type CompleteRetryPolicy, mapError, type RetrySettings, retryTransient } from '../http/retry.js';
import { HandlerFailure, type ProcessorRun } from './callHandler.js';
import type { CheckpointStore, TransactionalStore, Transactions } from './CheckpointStore.js';
import { holdName } from './memoryStore.js';
import type { AnyProcessOptions } from './ProcessOptions.js';
import type { LastCalls } from './Stop.js';

/** The store of a processor that holds its name or awaits it. */
export interface HeldStore extends Pick<ProcessorRun, 'transactions' | 'isTransactional' | 'load$' | 'save' | 'park'> {
  /** Whether another processor holds the name, or none may. */
  readonly isStandby: boolean;
  /** Whether no processor may hold the name until it is resumed. */
  readonly isPaused: boolean;
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
  const heldStore = (transactions: Transactions<unknown>, isTransactional: boolean, wait?: Wait): HeldStore => {
    const call = (operation: StoreOperation, request: () => ObservableInput<unknown>): Observable<unknown> => {
      const result$ = defer(() => calls.stored(request())).pipe(
        lastOrUndefined(),
        timeout(clampTimer(storeTimeoutMs)),
        mapError((error) => asStoreError(operation, name, error)),
      );
      return isTransactional ? result$ : result$.pipe(retryTransient(retrying, (error) => !isNameLost(error)));
    };
    return {
      isStandby: wait !== undefined,
      isPaused: wait === 'paused',
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
  const hold = <A>(request: (standBy: StandBy) => Observable<A>): Observable<A | Wait> =>
    prepared$.pipe(
      concatMap(() => withStandby(request)),
      throwIfEmpty(() => new Error('it completed without emitting')),
      mapError((error) => asStoreError('hold', name, error)),
    );
  if (store === undefined) return prepared$.pipe(map(() => heldStore(noTransactions, false)));
  if (isTransactionalStore(store))
    return hold((standBy) => store.hold(name, standBy)).pipe(
      map((held) => (isWait(held) ? heldStore(noTransactions, true, held) : heldStore(held, true))),
    );
  // a name that was lost is not held again while this run may still work
  const held$ = defer(() => calls.settled$).pipe(
    concatMap(() => hold((standBy) => store.hold?.(name, standBy) ?? holdName(store, name, standBy))),
  );
  return held$.pipe(
    afterFormerRun(store, name, calls),
    map((held) => heldStore(noTransactions, false, isWait(held) ? held : undefined)),
    share({ connector: () => new ReplaySubject(1), resetOnRefCountZero: () => calls.ended$ }),
  );
}

/** The calls of the run of this process that last held a name, by store and name. */
const formerCalls = new WeakMap<object, Map<string, LastCalls>>();

/** Waits with a name that is held until the run has ended its calls that held the name before, and may have lost it meanwhile. */
const afterFormerRun =
  (store: object, name: string, calls: LastCalls): MonoTypeOperatorFunction<unknown> =>
  (held$) =>
    defer(() => {
      const former = formerCalls.get(store) ?? new Map<string, LastCalls>();
      formerCalls.set(store, former);
      return held$.pipe(
        concatMap((held) => {
          if (isWait(held)) return of(held);
          return (former.get(name)?.settled$ ?? of(true)).pipe(
            map(() => {
              former.set(name, calls);
              return held;
            }),
          );
        }),
      );
    });

/** Why a processor waits for its name: another one holds it, or none may. */
type Wait = 'standby' | 'paused';

const isWait = (held: unknown): held is Wait => held === 'standby' || held === 'paused';

type StandBy = NonNullable<Parameters<TransactionalStore<unknown>['hold']>[1]>;

/** Emits why the request waits when it reports that, and then what it emits. */
const withStandby = <A>(request: (standBy: StandBy) => Observable<A>): Observable<A | Wait> =>
  defer(() => {
    const standby$ = new Subject<Wait>();
    const held$ = request((reason) => {
      standby$.next(reason ?? 'standby');
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
    : new StoreError(operation, processor, quotable(textOf(error), []), error);

/** Whether a store has lost the name. The processor then waits for it again. */
export const isNameLost = (error: unknown): error is StoreError =>
  isLedgerError(error, 'StoreError') && error.operation === 'hold';

const noTransactions: Transactions<unknown> = { transact: (work) => work(undefined) };

const isTransactionalStore = (store: CheckpointStore<unknown>): store is TransactionalStore<unknown> =>
  'transactions' in store;

/**
 * The maximum delay before a store is tried again, in milliseconds: a store is usually close, and all work waits for it.
 */
const maxStoreDelayMs = 5_000;

/** Returns the policy for a store. */
export const storeRetryPolicy = (retry: CompleteRetryPolicy): CompleteRetryPolicy => ({
  ...retry,
  maxDelayMs: Math.min(retry.maxDelayMs, maxStoreDelayMs),
});
