import {
  assertInInjectionContext,
  assertNotInReactiveContext,
  computed,
  DestroyRef,
  inject,
  Injector,
  NgZone,
  runInInjectionContext,
  signal,
  untracked,
} from '@angular/core';
import { toObservable, toSignal } from '@angular/core/rxjs-interop';
import {
  asyncScheduler,
  BehaviorSubject,
  defer,
  filter,
  type Observable,
  of,
  share,
  startWith,
  Subject,
  switchMap,
  take,
  takeUntil,
  takeWhile,
} from 'rxjs';
import type { ContractOf, ContractTypes } from '../contracts/Contract.js';
import type { ContractPolicies, ContractQuery, ContractsOptions } from '../contracts/ContractQuery.js';
import { inclusionOf } from '../contracts/firstWith.js';
import type { SharedContracts } from '../contracts/shareContracts.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import {
  type ContractsRequest,
  type ContractsResource,
  contractsResource,
  failed,
  type Reading,
} from './ContractsResource.js';
import { LEDGER } from './provideLedger.js';
import { haveEnded, NO_LEDGER, SHARED_CONTRACTS } from './provideContracts.js';
import { contractsReader } from './readContracts.js';
import { insideZone } from './zone.js';

/**
 * Options of {@link injectContracts}.
 *
 * @category Angular
 */
export interface InjectContractsOptions<C> extends ContractsOptions {
  /** The order, as for `Array.sort`. Default: the order in which the contracts became known. */
  readonly compare?: ((a: C, b: C) => number) | undefined;
  /**
   * The ledger, or a function that reads signals and returns it. Another ledger is a new view; with `undefined` the
   * resource is idle. Default: the ledger that `provideLedger` provides.
   */
  readonly ledger?: LedgerReader | (() => LedgerReader | undefined) | undefined;
  /** The injector, required outside an injection context. The view ends when it is destroyed. */
  readonly injector?: Injector | undefined;
  /** A name for Angular's developer tools. */
  readonly debugName?: string | undefined;
}

/**
 * Returns the active contracts of a query as signals: a live view that begins immediately and ends with the component,
 * directive or service that calls it. Must be called in an injection context, or with an `injector`.
 *
 * All calls with an equal query share one view of their ledger, as with `shareContracts`. It is kept for 30 seconds after
 * the last of them has ended, so that a user who returns to a page sees its contracts immediately.
 *
 * If the query is a function, the view follows the signals that it reads. A different query is a new view: `value` is
 * then empty and the status is `'loading'`, so contracts of two queries are never mixed. A query that equals the
 * previous one in all parts changes nothing; types that are created on each call are not equal. `undefined` means that
 * there is no query.
 *
 * @param query - the query, or a function that reads signals and returns it
 * @throws Error outside an injection context without an `injector`, and within `computed`, `effect` or a template
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
 *
 * @category Angular
 */
export function injectContracts<M extends ContractTypes>(
  query: (ContractQuery<M> & ContractPolicies) | (() => (ContractQuery<M> & ContractPolicies) | undefined),
  options: InjectContractsOptions<ContractOf<M>> = {},
): ContractsResource<ContractOf<M>> {
  checkContext(options.injector);
  const { compare, ledger, debugName = 'contracts', injector = inject(Injector), ...contractsOptions } = options;
  return runInInjectionContext(injector, () => {
    const endedAt = signal<number | undefined>(undefined);
    const ended$ = new BehaviorSubject(false);
    // throws if the component is already destroyed: nothing would end the view
    inject(DestroyRef).onDestroy(() => {
      untracked(() => {
        endedAt.set(asyncScheduler.now());
      });
      ended$.next(true);
    });
    const source = ledger ?? inject(NO_LEDGER, { optional: true }) ?? inject(LEDGER);
    const reload$ = new Subject<void>();
    const read = contractsReader(compare, contractsOptions, reload$);
    const sharedOf = inject(SHARED_CONTRACTS);
    const request = computed(() => requestOf(query, source, sharedOf), { equal: isSame });
    const isFixed = typeof query !== 'function' && typeof source !== 'function';
    const request$ = isFixed ? of(request()) : toObservable(request, { injector });
    const reading$ = request$.pipe(
      switchMap((current) => readingOf(current, read)),
      insideZone(inject(NgZone)),
      share(),
    );
    const latest = toSignal(reading$, { injector, initialValue: idle });
    const reload = (): boolean => {
      const current = request();
      const isReadable = current?.ledger !== undefined && !haveEnded(sharedOf(current.ledger));
      if (isReadable) reload$.next();
      return isReadable;
    };
    return contractsResource(request, latest, endedAt, debugName, reload, (transaction) =>
      defer(() => {
        const includes = inclusionOf(transaction);
        return reading$.pipe(
          startWith(untracked(latest)),
          // until the effects run, the latest reading may be that of the former query
          filter((reading) => reading.request === untracked(request)),
          // there is none without a query, and after the end
          takeWhile(({ connection }) => connection !== undefined),
          filter(({ known }) => known?.step !== undefined && includes(known.step)),
          take(1),
          takeUntil(ended$.pipe(filter((hasEnded) => hasEnded))),
        );
      }),
    );
  });
}

/** Throws in places where Angular would fail later, or for reasons that do not name the mistake. */
function checkContext(injector: Injector | undefined): void {
  try {
    assertNotInReactiveContext(injectContracts);
  } catch (cause) {
    const message =
      'injectContracts was called within computed, effect or a template, where each run would open another view. Call it once, ' +
      'for example in a field initializer, with a function that reads the signals: injectContracts(() => ({ parties: [party()] })).';
    throw new Error(message, { cause });
  }
  try {
    if (injector === undefined) assertInInjectionContext(injectContracts);
  } catch (cause) {
    const message =
      'injectContracts was called outside an injection context. Call it in a field initializer, a constructor or a factory, or ' +
      'pass an injector: injectContracts(query, { injector }).';
    throw new Error(message, { cause });
  }
}

/** A request, or the error of the function that returns it. */
type Requested<M extends ContractTypes> =
  | ContractsRequest<M>
  | { readonly failure: unknown; readonly key?: undefined; readonly ledger?: undefined }
  | undefined;

/** Never throws: a required input may have no value yet. */
function requestOf<M extends ContractTypes>(
  query: ContractsRequest<M>['query'] | (() => ContractsRequest<M>['query'] | undefined),
  ledger: LedgerReader | (() => LedgerReader | undefined),
  sharedOf: (ledger: LedgerReader) => SharedContracts,
): Requested<M> {
  try {
    const current = typeof query === 'function' ? query() : query;
    const source = typeof ledger === 'function' ? ledger() : ledger;
    if ([current, current?.parties].some(isFunction))
      throw new TypeError('The query has a signal in place of its value. Call the signal: ({ parties: [party()] }).');
    // JavaScript callers may return null
    return current && source ? { query: current, ledger: source, key: sharedOf(source).keyOf(current) } : undefined;
  } catch (failure) {
    return { failure };
  }
}

/** Whether requests are the same, so that a view continues. */
const isSame = (a: Requested<ContractTypes>, b: Requested<ContractTypes>): boolean =>
  a === b || (a?.key !== undefined && a.key === b?.key && a.ledger === b.ledger);

const isFunction = (u: unknown): boolean => typeof u === 'function';

const idle: Reading<never> = { request: undefined, isReloading: false };

function readingOf<M extends ContractTypes>(
  request: Requested<M>,
  read: (request: ContractsRequest<M>) => Observable<Reading<ContractOf<M>>>,
): Observable<Reading<ContractOf<M>>> {
  if (request === undefined) return of(idle);
  return 'failure' in request ? of(failed(request, request.failure)) : read(request);
}
