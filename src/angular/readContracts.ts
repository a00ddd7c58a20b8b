import { isPlatformServer } from '@angular/common';
import {
  DestroyRef,
  type EnvironmentProviders,
  inject,
  InjectionToken,
  Injector,
  makeEnvironmentProviders,
  NgZone,
  PLATFORM_ID,
  TransferState,
} from '@angular/core';
import { takeUntilDestroyed } from '@angular/core/rxjs-interop';
import {
  asyncScheduler,
  catchError,
  concatWith,
  connect,
  defer,
  distinctUntilChanged,
  filter,
  identity,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  scan,
  startWith,
  Subject,
  switchMap,
  takeUntil,
  takeWhile,
  tap,
  timer,
} from 'rxjs';
import { conflate } from '../contracts/conflate.js';
import type { AnyContract, ContractOf, ContractTypes } from '../contracts/Contract.js';
import type { ContractsOptions } from '../contracts/ContractQuery.js';
import { type LiveContracts, toLiveContracts } from '../contracts/liveContracts.js';
import { isSameState, keepsContracts } from '../contracts/LiveState.js';
import { shareContracts, type SharedContracts } from '../contracts/shareContracts.js';
import { isLedgerError } from '../errors/LedgerError.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import { type ContractsRequest, type ContractsReset, ended, failed, type Reading } from './ContractsResource.js';
import { LEDGER, PENDING_TASKS } from './provideLedger.js';
import { pageContracts, type TransferredContracts, transferredContracts } from './transferredContracts.js';
import { destroyRefOf, outsideZone, trackPendingTask, withoutHost } from './zone.js';

/**
 * Returns the views of a ledger, which change at most once per frame, and which equal queries share. They end with the
 * injector of the ledger. Tests replace it.
 *
 * @internal
 */
export const SHARED_CONTRACTS = new InjectionToken<(ledger: LedgerReader) => SharedContracts>('views of canton-rx', {
  providedIn: 'root',
  factory: () => viewsOfLedgers(),
});

/** Returns the views of each ledger. Must be called in an injection context. */
function viewsOfLedgers(): (ledger: LedgerReader) => SharedContracts {
  const sharedBy = new WeakMap<LedgerReader, SharedContracts>();
  const rootDestroyRef = inject(DestroyRef);
  // nothing may remain open after a page was rendered
  const options = isPlatformServer(inject(PLATFORM_ID)) ? { keepMs: 0 } : {};
  return (ledger) => {
    const shared =
      sharedBy.get(ledger) ?? perFrame(shareContracts(ledger, options), destroyRefOf(ledger) ?? rootDestroyRef);
    sharedBy.set(ledger, shared);
    return shared;
  };
}

/**
 * What stands for a ledger where {@link provideContracts} provides contracts without one.
 *
 * @internal
 */
export const NO_LEDGER = new InjectionToken<LedgerReader>('contracts without a ledger of canton-rx');

/**
 * Provides the contracts of {@link injectContracts} from another source than a ledger: those that a server sends, from
 * `shareRemoteContracts` of `canton-rx/sse`. `injectContracts` then needs no `provideLedger`. The views end with the injector.
 *
 * @param contracts - the views, or a function that returns them and may call `inject()`
 * @returns the providers, for `providers` of an application or of a route
 * @example
 * ```ts
 * import '@angular/compiler'; // outside Angular's own builds
 * import { inject } from '@angular/core';
 * import { provideContracts } from 'canton-rx/angular';
 * import { shareRemoteContracts } from 'canton-rx/sse';
 *
 * class Login {
 *   token = (): Promise<string> => Promise.resolve('a-token-of-a-few-minutes');
 * }
 *
 * const providers = [
 *   { provide: Login },
 *   provideContracts(() => shareRemoteContracts('https://app.example/contracts', { token: inject(Login).token })),
 * ];
 * ```
 *
 * @category Angular
 */
export const provideContracts = (contracts: SharedContracts | (() => SharedContracts)): EnvironmentProviders =>
  makeEnvironmentProviders([
    { provide: NO_LEDGER, useFactory: () => ({}) },
    {
      provide: SHARED_CONTRACTS,
      useFactory: () => {
        const shared = perFrame(typeof contracts === 'function' ? contracts() : contracts, inject(DestroyRef));
        const source = inject(NO_LEDGER);
        // a resource may name a ledger
        const sharedOf = inject(SHARED_CONTRACTS, { skipSelf: true, optional: true }) ?? viewsOfLedgers();
        return (ledger: LedgerReader) => (ledger === source ? shared : sharedOf(ledger));
      },
    },
  ]);

function perFrame(shared: SharedContracts, destroyRef: DestroyRef): SharedContracts {
  const clears$ = new Subject<void>();
  // without `clears$`: a resource that shows contracts keeps the last ones
  destroyRef.onDestroy(shared.clear);
  return {
    ...shared,
    view: (query, options) => {
      const view = shared.view(query, options);
      const { view$ } = conflate(view, 'animationFrame');
      return { ...view, ...toLiveContracts(view$.pipe(takeUntilDestroyed(destroyRef))) };
    },
    clear: () => {
      shared.clear();
      clears$.next();
    },
    clears$,
  };
}

/**
 * Returns a function that forgets all contracts of the ledger that `provideLedger` provides, for example when a user logs
 * out. Each `injectContracts` of this ledger is then `'loading'` and without contracts immediately. It reads them again, with
 * the token that the ledger is given from then on: change the user before the call. Must be called in an injection context.
 *
 * @throws Angular's error NG0203 outside an injection context. The returned function throws NG0201 if no ledger is provided
 * @example
 * ```ts
 * import '@angular/compiler'; // outside Angular's own builds
 * import { injectClearContracts } from 'canton-rx/angular';
 *
 * class Login {
 *   private readonly clearContracts = injectClearContracts();
 *   token: string | undefined;
 *
 *   logOut(): void {
 *     this.token = undefined;
 *     this.clearContracts();
 *   }
 * }
 * ```
 *
 * @category Angular
 */
export function injectClearContracts(): () => void {
  const sharedOf = inject(SHARED_CONTRACTS);
  const state = inject(TransferState);
  // later, because the options of the ledger may inject the service that calls this
  const injector = inject(Injector);
  return () => {
    // also those of queries that are not shown yet
    state.remove(pageContracts);
    sharedOf(injector.get(NO_LEDGER, null) ?? injector.get(LEDGER)).clear();
  };
}

/** How long the rendering of a page waits for contracts, in milliseconds. After that the browser reads them. */
const maxWaitMs = 5_000;

/**
 * Reads the contracts of requests outside Angular's zone. In a browser a reading continues until it is unsubscribed,
 * and may begin with contracts that a server has rendered. On a server it ends with the first contracts, and the
 * application is unstable until then. An error is emitted as the last reading. Must be called in an injection context.
 *
 * @internal
 */
export function contractsReader<M extends ContractTypes>(
  compare: ((a: ContractOf<M>, b: ContractOf<M>) => number) | undefined,
  options: ContractsOptions,
  reload$: Observable<unknown>,
): (request: ContractsRequest<M>) => Observable<Reading<ContractOf<M>>> {
  const zone = inject(NgZone);
  const sharedOf = inject(SHARED_CONTRACTS);
  const isServer = isPlatformServer(inject(PLATFORM_ID));
  const pendingTasks = inject(PENDING_TASKS, { optional: true }) ?? undefined;
  const transferred = transferredContracts<M>();
  const readingOf = (
    request: ContractsRequest<M>,
    view: LiveContracts<ContractOf<M>>,
  ): Observable<Reading<ContractOf<M>>> => {
    const view$ = readingsOf(request, view, compare).pipe(endStale(request));
    return defer(() => (isServer ? snapshotOf : continueFrom)(view$, transferred(request))).pipe(
      catchError((error: unknown) => of(failed(request, isServer ? withoutHost(error) : error))),
      outsideZone(zone),
      isServer ? trackPendingTask(zone, pendingTasks) : identity,
    );
  };
  return (request) =>
    defer(() => {
      const shared = sharedOf(request.ledger);
      const view = shared.view(request.query, options);
      // reloads by other requests that share the view, too
      const reading$ = merge(view.reload$, reload$.pipe(tap(view.reload), ignoreElements())).pipe(
        startWith(undefined),
        switchMap(() => readingOf(request, view)),
        scan(withContractsBefore),
      );
      return shared.clears$.pipe(
        startWith(undefined),
        switchMap(() => reading$),
      );
    }).pipe(catchError((error: unknown) => of(failed(request, error))));
}

/** While contracts are read again, the previous ones are shown. */
function withContractsBefore<C extends AnyContract>(before: Reading<C>, now: Reading<C>): Reading<C> {
  const { known } = before;
  if (known === undefined || now.known !== undefined || now.error !== undefined) return now;
  return { ...now, isReloading: true, known: { ...known, staleSince: known.staleSince ?? asyncScheduler.now() } };
}

/** Emits the first contracts, for the rendered page. A page does not wait for a ledger that cannot be reached. */
const snapshotOf = <M extends ContractTypes>(
  view$: Observable<Reading<ContractOf<M>>>,
  transferred: TransferredContracts<M>,
): Observable<Reading<ContractOf<M>>> =>
  view$.pipe(
    takeWhile((reading) => reading.known === undefined && !isUnreachable(reading), true),
    filter(({ known }) => known !== undefined),
    tap(({ known }) => {
      if (known !== undefined) transferred.keep(known);
    }),
    takeUntil(timer(maxWaitMs)),
  );

const isUnreachable = ({ connection }: Reading<AnyContract>): boolean =>
  connection?.status === 'retrying' && isLedgerError(connection.cause, 'ConnectionError');

/** Begins with the contracts of the page, if it has any, until others are known or the ledger rejects the request. */
const continueFrom = <M extends ContractTypes>(
  view$: Observable<Reading<ContractOf<M>>>,
  transferred: TransferredContracts<M>,
): Observable<Reading<ContractOf<M>>> =>
  view$.pipe(
    tap({
      next: ({ known }) => {
        if (known !== undefined) transferred.drop();
      },
      error: transferred.drop,
    }),
    startWith(...transferred.read()),
  );

/** Emits the readings of a view. Each has the contracts of its offset. */
const readingsOf = <M extends ContractTypes>(
  request: ContractsRequest<M>,
  { view$ }: LiveContracts<ContractOf<M>>,
  compare: ((a: ContractOf<M>, b: ContractOf<M>) => number) | undefined,
): Observable<Reading<ContractOf<M>>> =>
  defer(() => {
    let contracts: readonly ContractOf<M>[] = [];
    let staleSince: number | undefined;
    let reset: ContractsReset | undefined;
    return view$.pipe(
      connect((shared$) => {
        const view = toLiveContracts(shared$);
        const contracts$ = view.all$(compare).pipe(
          tap((latest) => {
            contracts = latest;
          }),
          ignoreElements(),
        );
        const resets$ = view.changes$.pipe(
          tap((change) => {
            if (change._tag !== 'Reset' || change.reason !== 'ledgerReset') return;
            reset = { at: asyncScheduler.now(), offset: change.offset };
          }),
          ignoreElements(),
        );
        // subscribed first, so that a state has its contracts
        return merge(contracts$, resets$, shared$.pipe(distinctUntilChanged(isSameState)));
      }),
      map(({ connection, known, isLive, isReloading = false }) => {
        if (known === undefined) return { request, isReloading, connection };
        staleSince = isLive ? undefined : (staleSince ?? asyncScheduler.now());
        return {
          request,
          isReloading,
          connection,
          known: { contracts, offset: known.offset, staleSince, reset, step: known },
        };
      }),
    );
  });

/**
 * If the source completes, because its ledger is gone, ends with the last contracts as stale ones. So it does after an error
 * that leaves them right.
 */
const endStale =
  <M extends ContractTypes>(request: ContractsRequest<M>) =>
  (source: Observable<Reading<ContractOf<M>>>): Observable<Reading<ContractOf<M>>> =>
    defer(() => {
      let last: Reading<ContractOf<M>> = { request, isReloading: false };
      return source.pipe(
        tap((reading) => {
          last = reading;
        }),
        concatWith(defer(() => of(ended(last, asyncScheduler.now())))),
        catchError((error: unknown) => {
          if (last.known === undefined || !keepsContracts(error)) throw error;
          return of({ ...failed(request, error), known: ended(last, asyncScheduler.now()).known });
        }),
      );
    });
