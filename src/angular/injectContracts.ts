import { computed, inject, Injector, NgZone, runInInjectionContext } from '@angular/core';
import { toObservable, toSignal } from '@angular/core/rxjs-interop';
import {
  asyncScheduler,
  catchError,
  connect,
  defer,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  scan,
  startWith,
  Subject,
  switchMap,
  tap,
} from 'rxjs';
import { conflate } from '../contracts/conflate.js';
import type { ContractOf, ContractTypes } from '../contracts/Contract.js';
import type { ContractPolicies, ContractQuery } from '../contracts/ContractQuery.js';
import type { ContractsOptions } from '../contracts/ContractsSource.js';
import { liveContracts, toLiveContracts } from '../contracts/liveContracts.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import { type ContractsResource, contractsResource, type Reading } from './ContractsResource.js';
import { LEDGER } from './provideLedger.js';
import { insideZone, outsideZone } from './zone.js';

/** Options of {@link injectContracts}. */
export interface InjectContractsOptions<C> extends ContractsOptions {
  /** The order, as for `Array.sort`. Default: that in which the contracts became known. */
  readonly compare?: ((a: C, b: C) => number) | undefined;
  /**
   * The ledger, or a function that reads signals and returns it: another ledger is a new view, and with `undefined` the
   * resource is idle. Default: the ledger that `provideLedger` provides.
   */
  readonly ledger?: LedgerReader | (() => LedgerReader | undefined) | undefined;
  /** The injector, needed outside an injection context. The view ends when it is destroyed. */
  readonly injector?: Injector | undefined;
  /** A name for the developer tools of Angular. */
  readonly debugName?: string | undefined;
}

/**
 * The active contracts of a query as signals: a live view, which begins at once and ends with the component, directive or
 * service that calls it. Must be called in an injection context, or with an `injector`.
 *
 * With a function as query the view follows the signals that it reads. Another query is a new view: from then on `value` is
 * empty and the status is `'loading'`, so that contracts of two queries are never mixed. A query that is equal in all its
 * parts to the one before changes nothing; types that are made anew each time are not equal. `undefined` is no query.
 *
 * @param query - the query, or a function that reads signals and returns it
 * @example
 * ```ts
 * import '@angular/compiler'; // outside Angular's own builds
 * import { contractType } from 'canton-rx';
 * import { injectContracts } from 'canton-rx/angular';
 * import * as t from 'io-ts';
 *
 * const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string, amount: t.string }));
 *
 * class Ious {
 *   readonly ious = injectContracts({ types: { iou: Iou }, parties: ['alice::1220ab'] });
 * }
 * ```
 */
export function injectContracts<M extends ContractTypes>(
  query: ContractsQuery<M> | (() => ContractsQuery<M> | undefined),
  options: InjectContractsOptions<ContractOf<M>> = {},
): ContractsResource<ContractOf<M>> {
  const injector = options.injector ?? inject(Injector);
  return runInInjectionContext(injector, () => {
    const { ledger = inject(LEDGER) } = options;
    const zone = inject(NgZone);
    const request = computed(() => requestOf(query, ledger), { equal: isSameRequest });
    const reload$ = new Subject<void>();
    const isFixed = typeof query !== 'function' && typeof ledger !== 'function';
    const request$ = isFixed ? of(request()) : toObservable(request, { injector });
    const reading$ = request$.pipe(
      switchMap((current) =>
        reload$.pipe(
          startWith(undefined),
          switchMap(() => (current === undefined ? of(idle) : read(current, options).pipe(outsideZone(zone)))),
        ),
      ),
      scan(withContractsBefore),
      insideZone(zone),
    );
    const latest = toSignal(reading$, { injector, initialValue: idle });
    return contractsResource(request, latest, () => {
      reload$.next();
    });
  });
}

/** What to read, and from where. */
interface Request<M extends ContractTypes> {
  readonly query: ContractsQuery<M>;
  readonly ledger: LedgerReader;
}

type ContractsQuery<M extends ContractTypes> = ContractQuery<M> & ContractPolicies;

const idle: Reading<never> = { request: undefined, isReloading: false };

function requestOf<M extends ContractTypes>(
  query: ContractsQuery<M> | (() => ContractsQuery<M> | undefined),
  ledger: LedgerReader | (() => LedgerReader | undefined),
): Request<M> | undefined {
  const current = {
    query: typeof query === 'function' ? query() : query,
    ledger: typeof ledger === 'function' ? ledger() : ledger,
  };
  return current.query === undefined || current.ledger === undefined
    ? undefined
    : { query: current.query, ledger: current.ledger };
}

const isSameRequest = (a: Request<ContractTypes> | undefined, b: Request<ContractTypes> | undefined): boolean =>
  a?.ledger === b?.ledger && isEqual(a?.query, b?.query);

/** Whether values are equal in all parts. Functions, and objects of classes, are equal only to themselves. */
function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (!isPlain(a) || !isPlain(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  // the order of types matters
  const ofB = entriesOf(b);
  const isSame = ([key, value]: [string, unknown], i: number) => key === ofB[i]?.[0] && isEqual(value, ofB[i][1]);
  return entriesOf(a).length === ofB.length && entriesOf(a).every(isSame);
}

const entriesOf = (object: object): [string, unknown][] =>
  Object.entries(object).filter(([, value]) => value !== undefined);

const isPlain = (u: unknown): u is object =>
  typeof u === 'object' &&
  u !== null &&
  [Object.prototype, Array.prototype, null].includes(Object.getPrototypeOf(u) as object | null);

/** Reads the contracts of a request, at most once a frame. An error is the last reading. */
const read = <M extends ContractTypes>(
  request: Request<M>,
  { compare, ...options }: InjectContractsOptions<ContractOf<M>>,
): Observable<Reading<ContractOf<M>>> =>
  defer(() => {
    type C = ContractOf<M>;
    let contracts: readonly C[] = [];
    let staleSince: number | undefined;
    return conflate(liveContracts(request.ledger, request.query, options), 'animationFrame').view$.pipe(
      connect((view$) => {
        const view = toLiveContracts(view$);
        const contracts$ = view.all$(compare).pipe(
          tap((latest) => {
            contracts = latest;
          }),
          ignoreElements(),
        );
        // subscribed first, so that a state has its contracts
        return merge(contracts$, view.state$);
      }),
      map((state): Reading<C> => {
        const { connection } = state;
        if (state.data === 'loading') return { request, isReloading: false, connection };
        staleSince = state.data === 'live' ? undefined : (staleSince ?? asyncScheduler.now());
        return { request, isReloading: false, connection, known: { contracts, offset: state.offset, staleSince } };
      }),
    );
  }).pipe(
    catchError((error: unknown) =>
      of({ request, isReloading: false, error: error instanceof Error ? error : new Error(String(error)) }),
    ),
  );

/** While contracts are read again, those from before are shown. */
function withContractsBefore<M extends ContractTypes>(
  before: Reading<ContractOf<M>>,
  now: Reading<ContractOf<M>>,
): Reading<ContractOf<M>> {
  const { known } = before;
  if (known === undefined || before.request !== now.request || now.known !== undefined || now.error !== undefined)
    return now;
  return { ...now, isReloading: true, known: { ...known, staleSince: known.staleSince ?? asyncScheduler.now() } };
}
