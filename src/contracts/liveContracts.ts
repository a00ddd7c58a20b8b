import { BehaviorSubject, defer, distinctUntilChanged, filter, map, type Observable, share, take } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import type { AnyContract, ContractOf, ContractTypes } from './Contract.js';
import type { ContractChange } from './ContractChange.js';
import { type ContractPolicies, type ContractQuery, eventFormatOf } from './ContractQuery.js';
import { type ContractsOptions, contractsSource } from './ContractsSource.js';
import { join, type JoinStep } from './join.js';
import type { LiveState } from './LiveState.js';
import { selectContracts } from './selectContracts.js';
import { isSameState, loading, stateOf, toChanges, type View, viewOf } from './View.js';

/**
 * A live view of the active contracts. All subscriptions to its Observables share one snapshot and one feed, which begin with
 * the first of them and end with the last; a view that is subscribed to again starts from the beginning. A later subscription
 * begins with the contracts that are there.
 *
 * Only permanent errors end the Observables: missing rights, a query that the participant refuses, a gap with
 * `onGap: 'fail'`. They are those of `ledger.updates`, and `SnapshotLimitError`. An outage ends them only if `giveUpAfterMs`
 * is set, by the retry policy of the options or of the ledger, and it lasts longer. The view can be subscribed to again after
 * an error. One that the caller's own predicate or order throws ends only the subscription that uses it.
 *
 * @category Contracts
 */
export interface LiveContracts<C extends AnyContract = AnyContract> {
  /** The contracts, whether they are current, and what the connection does. Emits at once, and whenever one of them changes. */
  readonly state$: Observable<LiveState<C>>;
  /**
   * Begins with a `Reset` of the contracts that are there, as soon as they are known, and continues with every change after
   * it, each once and in order. Nothing is left out, however slow the subscriber is. Its other elements are those of
   * `contractChanges`.
   */
  readonly changes$: Observable<ContractChange<C>>;
  /**
   * All contracts, as soon as they are known, and again whenever they have changed. An empty array always means that there
   * are none. The changes of one page of updates come as one array.
   *
   * @param compare - the order, as for `Array.sort`; by default that in which they became known
   */
  all$(compare?: (a: C, b: C) => number): Observable<readonly C[]>;
  /** A contract, as soon as it is known, and whenever it changes; `undefined` while it is known not to be there. */
  byId$(contractId: string): Observable<C | undefined>;
  /**
   * The contracts that match, as soon as they are known, and again whenever they have changed. The predicate is called once
   * for each contract, and again for a contract that was moved.
   *
   * @param predicate - must give the same answer for the same contract; a type guard narrows the contracts
   * @param compare - the order, as for `Array.sort`; by default that in which they became known
   */
  select$<S extends C>(
    predicate: (contract: C) => contract is S,
    compare?: (a: S, b: S) => number,
  ): Observable<readonly S[]>;
  /** The same for a predicate that is no type guard. */
  select$(predicate: (contract: C) => boolean, compare?: (a: C, b: C) => number): Observable<readonly C[]>;
  /** The number of contracts that match, by default of all, as soon as it is known, and whenever it changes. */
  count$(predicate?: (contract: C) => boolean): Observable<number>;
  /**
   * Waits until everything up to an offset is applied, emits the offset up to which that is so, and completes. Use it with
   * the offset of your own transaction, to read what you have written. It also emits if the transaction changes no contract
   * of the view, but then perhaps only after half a minute, with the next checkpoint. Without an end if the ledger never
   * reaches the offset: add `timeout`.
   */
  atOffset(offset: Offset): Observable<Offset>;
  /**
   * For operators on views, such as `conflate`.
   *
   * @internal
   */
  readonly view$: Observable<View<C>>;
}

/**
 * A live view of the active contracts of a query: a snapshot, and then every change. Cold: nothing is sent before the first
 * subscription to one of its Observables, which all share one snapshot and one feed.
 *
 * Nothing half is ever shown. The contracts are known when the snapshot is complete, and an update of the ledger takes effect
 * as a whole. What transient failures do shows in `state$`; they end nothing. Without `giveUpAfterMs` in the retry policy of
 * the options or of the ledger, that holds for an outage of any length.
 *
 * @throws TypeError for invalid options, and for an object that is no ledger, synchronously
 * @throws InvalidRequestError for an invalid party or template, synchronously
 * @example
 * ```ts
 * import { contractType, createLedger } from 'canton-rx';
 * import { liveContracts } from 'canton-rx/contracts';
 * import * as t from 'io-ts';
 *
 * const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string, amount: t.string }));
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const ious = liveContracts(ledger, { types: { iou: Iou }, parties: ['alice::1220ab'] });
 * const watching = ious.all$().subscribe((contracts) => {
 *   for (const contract of contracts) if (contract.type === 'iou') console.log(contract.payload.amount);
 * });
 * watching.unsubscribe();
 * ```
 *
 * @category Contracts
 */
export function liveContracts<M extends ContractTypes>(
  ledger: LedgerReader,
  query: ContractQuery<M> & ContractPolicies,
  options: ContractsOptions = {},
): LiveContracts<ContractOf<M>> {
  // throws for an invalid query
  eventFormatOf(query);
  // an outage, however long, is no reason to show nothing
  const sourceOf = contractsSource(ledger, options, { giveUpAfterMs: Infinity });
  const view$ = defer(() => {
    const { service } = sourceOf(0);
    const feed = service.newFeed();
    // the contracts have the types of the query
    return viewOf(
      join(sourceOf(feed), { query }) as Observable<JoinStep<ContractOf<M>>>,
      service.diagnostics$.pipe(filter((diagnostic) => diagnostic.feed === feed)),
    );
  });
  return toLiveContracts(view$.pipe(share({ connector: () => new BehaviorSubject<View<ContractOf<M>>>(loading) })));
}

/** The Observables of a view, each of which keeps what it needs for itself. */
export function toLiveContracts<C extends AnyContract>(view$: Observable<View<C>>): LiveContracts<C> {
  const known$ = view$.pipe(
    map(({ known }) => known),
    filter((known) => known !== undefined),
    distinctUntilChanged(),
  );
  const contracts$ = known$.pipe(
    map(({ contracts }) => contracts),
    distinctUntilChanged(),
  );
  const select$ = <S extends C>(
    predicate: (contract: C) => boolean,
    compare?: (a: S, b: S) => number,
  ): Observable<readonly S[]> =>
    known$.pipe(
      selectContracts(predicate as (contract: C) => contract is S, compare),
      map((selection) => selection.toArray()),
    );
  return {
    state$: view$.pipe(distinctUntilChanged(isSameState), map(stateOf)),
    changes$: toChanges(known$),
    all$: (compare) =>
      compare === undefined ? contracts$.pipe(map((contracts) => contracts.toArray())) : select$(() => true, compare),
    byId$: (contractId) =>
      contracts$.pipe(
        map((contracts) => contracts.get(contractId)),
        distinctUntilChanged(),
      ),
    select$,
    count$: (predicate) =>
      (predicate === undefined
        ? contracts$
        : known$.pipe(selectContracts(predicate as (contract: C) => contract is C))
      ).pipe(
        map(({ size }) => size),
        distinctUntilChanged(),
      ),
    atOffset: (offset) =>
      known$.pipe(
        map((known) => known.offset),
        filter((reached) => reached >= offset),
        take(1),
      ),
    view$,
  };
}
