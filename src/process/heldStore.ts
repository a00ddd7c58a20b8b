import {
  catchError,
  concatMap,
  defaultIfEmpty,
  defer,
  dematerialize,
  distinctUntilChanged,
  EMPTY,
  filter,
  finalize,
  ignoreElements,
  interval,
  map,
  materialize,
  merge,
  type MonoTypeOperatorFunction,
  type Observable,
  type ObservableInput,
  of,
  ReplaySubject,
  share,
  startWith,
  Subject,
  switchMap,
  takeLast,
  takeUntil,
  tap,
  throwIfEmpty,
  timeout,
} from 'rxjs';
import type { ProcessorRole } from '../diagnostics/ProcessDiagnostic.js';
import { quotable } from '../errors/internal/message.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { isTransient } from '../errors/verdict.js';
import { endsProcessor, StoreError, type StoreOperation } from '../errors/process.js';
import { textOf } from '../errors/textOf.js';
import { clampTimer, type CompleteRetryPolicy, mapError, type RetrySettings, retryTransient } from '../http/retry.js';
import { HandlerFailure, type ProcessorRun } from './callHandler.js';
import type { CheckpointStore, FeedPosition, TransactionalStore, Transactions } from './CheckpointStore.js';
import { holdName } from './memoryStore.js';
import type { AnyProcessOptions, Committed } from './ProcessOptions.js';
import type { LastCalls, Stop } from './Stop.js';

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
const isNameLost = (error: unknown): error is StoreError =>
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

/**
 * How long a wait for the name must last without a failure to count as healthy, in milliseconds: rare failures must not
 * add up.
 */
const healthyWaitMs = 60_000;

/** Emits from time to time during a wait, which renews a retry budget. */
const healthyWait$: Observable<undefined> = interval(healthyWaitMs).pipe(map(() => undefined));

/**
 * Works with each value of a source that holds something until it is unsubscribed from, and completes with the work. Emits
 * `undefined` from time to time until there is a value.
 */
export const whileHeld = <H extends object, A>(
  held$: Observable<H>,
  work: (held: H) => Observable<A>,
): Observable<A | undefined> =>
  held$.pipe(
    startWith(undefined),
    // the end of the work must end all this although the source is still held, so it is passed as a value
    switchMap((held) => {
      const work$: Observable<A | undefined> = held === undefined ? healthyWait$ : work(held);
      return work$.pipe(materialize());
    }),
    dematerialize(),
  );

/** What a processor does with its store. */
interface StoreWork {
  /** Works while the name is held. */
  readonly lead: (store: HeldStore) => Observable<Committed>;
  /** Checks whether a standby could work, and emits the cursor from which it would resume. */
  readonly standBy: (store: HeldStore) => Observable<FeedPosition>;
}

/**
 * Runs work while the store is held, and releases the store afterwards. If the store fails, both begin again for as
 * long as the policy allows. A stop ends this at once, unless a transaction is open.
 */
export const whileStoreHeld = (
  store$: Observable<HeldStore>,
  { lead, standBy }: StoreWork,
  retrying: RetrySettings,
  { stop$, isStopped }: Stop,
): Observable<Committed> =>
  defer(() => {
    const { report } = retrying;
    const roles$ = new Subject<Committed>();
    const state: State = { isInTransaction: false, isCaughtUp: false, isAway: false, isPaused: false };
    const setRole = (role: ProcessorRole, at?: FeedPosition, isPaused = false): void => {
      if (state.role === role && state.isPaused === isPaused) return;
      state.role = role;
      state.isPaused = isPaused;
      state.isCaughtUp = false;
      const paused = isPaused ? ({ isPaused } as const) : {};
      report(() => ({ _tag: 'RoleChanged', role, ...(at !== undefined && { offset: at.offset }), ...paused }));
      state.at = at ?? state.at;
      if (role === 'leader' || state.at === undefined) return;
      const { offset } = state.at;
      state.isAway = true;
      roles$.next({
        offset,
        recordTimes: state.last?.recordTimes ?? {},
        handled: 0,
        isCaughtUp: false,
        role,
        ...paused,
      });
    };
    // an error with `retried` has already been retried where it occurred
    const isRetried = (error: unknown): boolean =>
      isLedgerError(error, 'StoreError') && isTransient(error) && error.retried === undefined && !isStopped();
    const standingBy = (store: HeldStore): Observable<undefined> =>
      standBy(store).pipe(
        tap((cursor) => {
          setRole('standby', cursor, store.isPaused);
        }),
        ignoreElements(),
      );
    const workOn = (store: HeldStore): Observable<Committed | undefined> =>
      store.isStandby
        ? merge(healthyWait$, standingBy(store))
        : lead({
            ...store,
            transactions: trackOpen(store.transactions, (isOpen) => {
              state.isInTransaction = isOpen;
            }),
          });
    // each value renews the retry budget: an occasional undefined while waiting, then the commits
    const committed$: Observable<Committed> = whileHeld(store$, workOn).pipe(
      filter((committed) => {
        if (committed === undefined) return true;
        // the first commit is that of the position where the processor begins
        setRole('leader', committed);
        if (committed.isCaughtUp && !state.isCaughtUp)
          report(() => ({ _tag: 'WorkCaughtUp', offset: committed.offset }));
        state.isCaughtUp = committed.isCaughtUp;
        if (isProgress(committed, state.last)) return true;
        // a commit that is repeated because the store failed must not renew the budget
        if (state.isAway) roles$.next(committed);
        state.isAway = false;
        return false;
      }),
      tap({
        next: (committed) => {
          if (committed === undefined) return;
          state.at = committed;
          state.last = committed;
          state.isAway = false;
        },
        subscribe: () => {
          setRole('starting');
        },
        error: (error: unknown) => {
          if (isRetried(error)) setRole('starting');
        },
      }),
      retryTransient(retrying, isRetried),
      // nothing is lost: the other holder, or the next start, handles the updates that are not committed
      catchError((error: unknown) => {
        if (!isStopped() || !isLedgerError(error, 'StoreError') || !isTransient(error)) throw error;
        if (isNameLost(error)) report(() => ({ _tag: 'NameLost', cause: error }));
        return EMPTY;
      }),
      filter((committed) => committed !== undefined),
      finalize(() => {
        roles$.complete();
      }),
    );
    return merge(roles$, committed$).pipe(takeUntil(stop$.pipe(filter(() => !state.isInTransaction))));
  });

/** Returns the same transactions, and says when one begins and ends. */
export const trackOpen = <Tx>(
  transactions: Transactions<Tx>,
  setOpen: (isOpen: boolean) => void,
): Transactions<Tx> => ({
  transact: (work) =>
    defer(() => {
      setOpen(true);
      return transactions.transact(work);
    }).pipe(
      finalize(() => {
        setOpen(false);
      }),
    ),
});

/** What is known of a processor and its store. */
interface State {
  isInTransaction: boolean;
  role?: ProcessorRole;
  isPaused: boolean;
  /** The last known position: that of a commit, or the cursor that a standby has read. */
  at?: FeedPosition | undefined;
  /** The last commit that made progress. */
  last?: Committed;
  /** Whether the last commit in this role had caught up. */
  isCaughtUp: boolean;
  /** Whether the last element that was emitted says that the name is not held. */
  isAway: boolean;
}

const isProgress = ({ handled, offset, isCaughtUp }: Committed, last: Committed | undefined): boolean =>
  handled > 0 || offset !== last?.offset || isCaughtUp !== last.isCaughtUp;
