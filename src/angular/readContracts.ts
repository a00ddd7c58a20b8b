import { isPlatformServer } from '@angular/common';
import { inject, NgZone, PLATFORM_ID } from '@angular/core';
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
  switchMap,
  takeUntil,
  takeWhile,
  tap,
  timer,
} from 'rxjs';
import type { AnyContract, ContractOf, ContractTypes } from '../contracts/Contract.js';
import type { ContractsOptions } from '../contracts/ContractQuery.js';
import { type LiveContracts, toLiveContracts } from '../contracts/liveContracts.js';
import { type ContractsReset, isSameState, keepsContracts } from '../contracts/LiveState.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { type ContractsRequest, ended, failed, type Reading } from './ContractsResource.js';
import { PENDING_TASKS } from './provideLedger.js';
import { type TransferredContracts, transferredContracts } from './transferredContracts.js';
import { SHARED_CONTRACTS } from './provideContracts.js';
import { outsideZone, trackPendingTask, withoutHost } from './zone.js';

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
  // nothing is read from a ledger that is gone
  const isReloading = now.connection !== undefined;
  return { ...now, isReloading, known: { ...known, staleSince: known.staleSince ?? asyncScheduler.now() } };
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
