import {
  catchError,
  defer,
  dematerialize,
  EMPTY,
  filter,
  finalize,
  ignoreElements,
  interval,
  map,
  materialize,
  merge,
  type Observable,
  startWith,
  Subject,
  switchMap,
  takeUntil,
  tap,
} from 'rxjs';
import type { ProcessorRole } from '../diagnostics/ProcessDiagnostic.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { isTransient } from '../errors/verdict.js';
import { type RetrySettings, retryTransient } from '../http/retry.js';
import type { FeedPosition, Transactions } from './CheckpointStore.js';
import { type HeldStore, isNameLost } from './heldStore.js';
import type { Committed } from './ProcessOptions.js';
import type { Stop } from './Stop.js';

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
