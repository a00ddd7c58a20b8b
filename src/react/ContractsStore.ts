import {
  asyncScheduler,
  catchError,
  defer,
  EMPTY,
  distinctUntilChanged,
  filter,
  finalize,
  lastValueFrom,
  map,
  merge,
  type Observable,
  of,
  scan,
  share,
  startWith,
  switchMap,
  take,
  takeWhile,
  tap,
  timer,
} from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import { conflate } from '../contracts/conflate.js';
import type { AnyContract } from '../contracts/Contract.js';
import type { ContractsBatch } from '../contracts/ContractChange.js';
import type { ContractPolicies, ContractQuery, ContractsOptions } from '../contracts/ContractQuery.js';
import type { ContractSet } from '../contracts/ContractSet.js';
import { inclusionOf, type TransactionPlace } from '../contracts/firstWith.js';
import {
  type ContractsReset,
  errorOf,
  isSameState,
  keepsContracts,
  type LiveConnection,
  resetOf,
  type View,
} from '../contracts/LiveState.js';
import type { SharedContracts, SharedView } from '../contracts/shareContracts.js';
import { isSignedOutError } from '../session/SignedOutError.js';

/**
 * The known contracts of a query. The same object as long as nothing changes.
 *
 * @internal
 */
export type Reading = {
  readonly contracts?: ContractSet | undefined;
  readonly connection?: LiveConnection | undefined;
  readonly offset?: Offset | undefined;
  /** Since when the contracts are not those at the last known ledger end. */
  readonly staleSince?: number | undefined;
  readonly reset?: ContractsReset | undefined;
  /** The last step of the view. */
  readonly known?: ContractsBatch<AnyContract> | undefined;
} & (
  | { readonly status: 'idle' | 'loading' | 'live' | 'stale'; readonly error?: undefined }
  | { readonly status: 'error'; readonly error: Error }
);

/**
 * The contracts of a query as an external store of React. All components with an equal query read the same store, so that
 * they show the same contracts.
 *
 * @internal
 */
export interface ContractsStore {
  readonly subscribe: (notify: () => void) => () => void;
  readonly current: () => Reading;
  readonly reload: () => void;
  /** Resolves when the reading is no longer `'loading'`: the same promise for each component that waits. */
  readonly wait: () => PromiseLike<unknown>;
  /** Emits when the reading includes a transaction, while it notifies; completes when the view has ended, or is not shown. */
  readonly after: (transaction: TransactionPlace) => Observable<unknown>;
}

/** @internal */
export const idle: Reading = { status: 'idle' };

/** @internal */
export const loading: Reading = { status: 'loading', connection: { status: 'connecting' } };

/** A store that has subscribers. */
interface Started {
  current: Reading;
  readonly reading$: Observable<Reading>;
  /** Whether it is being subscribed to for a component that waits. */
  isStarting?: boolean;
  /** Resolves when the reading is no longer `'loading'`, while it is and components wait. */
  waiting?: Promise<unknown> | undefined;
}

/** The stores that have subscribers, by key. */
type Running = Map<string, Started>;

/** How long a store is kept for components that have waited, and subscribe after they are rendered, in milliseconds. */
const heldMs = 5_000;

/** How long components wait before they are rendered again, in milliseconds. */
const maxWaitMs = 60_000;

/** How long an error is kept for them, in milliseconds. A component that is mounted later begins again. */
const errorHeldMs = 1_000;

const runningOf = new WeakMap<SharedContracts, Running>();

/**
 * Returns a store that always shows the same reading.
 *
 * @internal
 */
export const constantStore = (reading: Reading): ContractsStore => ({
  subscribe: () => () => undefined,
  current: () => reading,
  reload: () => undefined,
  wait: () => Promise.resolve(),
  after: () => EMPTY,
});

/**
 * Returns the store of a query. It requests nothing before a subscription, and then shows what is known of a view that
 * is kept. An invalid query is an error in the store.
 *
 * @param period - for `conflate`; `undefined` to show each change immediately
 * @internal
 */
export function contractsStore(
  shared: SharedContracts,
  query: ContractQuery & ContractPolicies,
  period: number | 'animationFrame' | undefined,
  options: ContractsOptions,
): ContractsStore {
  const running = runningOf.get(shared) ?? (new Map() as Running);
  runningOf.set(shared, running);
  const key = `${period} ${shared.keyOf(query, options)}`;
  try {
    const view = shared.view(query, options);
    const start = () => {
      const restart$ = merge(
        shared.clears$,
        // a view that has not ended reads again by itself
        view.reload$.pipe(filter(() => started.current.status === 'error')),
      );
      const reading$ = readingsOf(view, period, restart$, () => started.current).pipe(
        tap((reading) => {
          started.current = reading;
        }),
        finalize(() => running.delete(key)),
        share(),
      );
      const started: Started = { current: loading, reading$ };
      running.set(key, started);
      return started;
    };
    return {
      subscribe: (notify) => {
        const subscription = (running.get(key) ?? start()).reading$.subscribe({ next: notify, error: notify });
        return () => {
          subscription.unsubscribe();
        };
      },
      current: () => running.get(key)?.current ?? readingOf(view.current()),
      reload: view.reload,
      wait: () => {
        const started = running.get(key) ?? start();
        return started.waiting ?? waitFor(started);
      },
      after: (transaction) =>
        defer(() => {
          const started = running.get(key);
          // nothing is read for a submission whose components are gone
          if (started === undefined) return EMPTY;
          const includes = inclusionOf(transaction);
          return merge(of(started.current), started.reading$).pipe(
            takeWhile(({ status }) => status !== 'error'),
            filter(({ known }) => known !== undefined && includes(known)),
            take(1),
          );
        }),
    };
  } catch (error) {
    return constantStore(failed(error));
  }
}

function waitFor(started: Started): Promise<unknown> {
  const known$ = merge(
    // the view may be known as soon as it is subscribed to
    defer(() => started.reading$.pipe(startWith(started.current))).pipe(filter(({ status }) => status !== 'loading')),
    // a component that still waits then waits again, and one that was removed does not
    timer(maxWaitMs).pipe(map(() => loading)),
  ).pipe(take(1));
  const over$ = known$.pipe(
    // the view may also end after it is known
    switchMap((known) => started.reading$.pipe(startWith(known))),
    map((reading) => heldMsOf(reading, started)),
    distinctUntilChanged(),
    switchMap((ms) => timer(ms)),
    map(() => undefined),
  );
  started.isStarting = true;
  merge(started.reading$, over$)
    .pipe(takeWhile((reading) => reading !== undefined))
    .subscribe();
  started.isStarting = false;
  started.waiting = lastValueFrom(known$, { defaultValue: loading }).then(() => {
    started.waiting = undefined;
  });
  return started.waiting;
}

/**
 * The next user must not get the error with which the view of the former one has ended. A view that begins without a user has ended
 * as soon as it is subscribed to: without the time, its component would begin another one, and so on.
 */
function heldMsOf({ error }: Reading, { isStarting = false }: Started): number {
  if (error === undefined) return heldMs;
  return isSignedOutError(error) && !isStarting ? 0 : errorHeldMs;
}

/** Emits what is known of a view. Begins with a new one after an error and a reload, and after `clear`. */
const readingsOf = (
  view: SharedView,
  period: number | 'animationFrame' | undefined,
  restart$: Observable<unknown>,
  current: () => Reading,
): Observable<Reading> => {
  const views$ = defer(() => (period === undefined ? view : conflate(view, period)).view$);
  return restart$.pipe(
    startWith(undefined),
    switchMap(() =>
      views$.pipe(
        distinctUntilChanged(isSameState),
        scan((last: Reading, view) => (last === loading ? readingOf(view) : toReading(view, last)), loading),
        catchError((error: unknown) => of(failed(error, current()))),
      ),
    ),
  );
};

const readings = new WeakMap<View<AnyContract>, Reading>();

/** Returns the same first reading for the same view: React compares them by identity. */
function readingOf(view: View<AnyContract>): Reading {
  const reading = readings.get(view) ?? toReading(view);
  readings.set(view, reading);
  return reading;
}

function toReading(view: View<AnyContract>, last?: Reading): Reading {
  const { known, connection, isLive } = view;
  if (known === undefined) return { status: 'loading', connection };
  const { contracts, offset } = known;
  const staleSince = isLive ? undefined : (last?.staleSince ?? asyncScheduler.now());
  const reset = resetIn(view, last);
  return { status: isLive ? 'live' : 'stale', contracts, offset, connection, staleSince, reset, known };
}

/** The reset of what is shown. The first contracts that a component shows replace nothing. */
function resetIn({ known, isReloading }: View<AnyContract>, last?: Reading): ContractsReset | undefined {
  if (known === undefined || last?.known === undefined || isReloading === true) return undefined;
  if (known === last.known || resetOf(known)?.reason !== 'ledgerReset') return last.reset;
  return { at: asyncScheduler.now(), offset: known.offset };
}

const failed = (error: unknown, { contracts, offset, staleSince, reset }: Reading = loading): Reading => ({
  status: 'error',
  ...(keepsContracts(error) && { contracts, offset, reset, staleSince: staleSince ?? asyncScheduler.now() }),
  error: errorOf(error),
});
