import { BehaviorSubject, distinctUntilChanged, filter, isObservable, map, type Observable, share, take } from 'rxjs';
import { checkOffset } from '../codecs/internal/numbers.js';
import type { Offset } from '../codecs/scalars.js';
import type { Transaction } from '../codecs/Transaction.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import type { AnyContract, ContractOf, ContractTypes } from './Contract.js';
import type { ContractChange } from './ContractChange.js';
import { type ContractPolicies, type ContractQuery, type ContractsOptions, copyOf } from './ContractQuery.js';
import { firstWith } from './firstWith.js';
import {
  type ContractsKnown,
  isSameState,
  type LiveState,
  loading,
  stateOf,
  toChanges,
  type View,
} from './LiveState.js';
import { openView } from './openView.js';
import { selectContracts } from './selectContracts.js';

/**
 * A live view of the active contracts. All subscriptions to its Observables share one snapshot and one feed, which
 * begin with the first subscription and end with the last. A view that is subscribed to again starts from the
 * beginning. A later subscription begins with the current contracts.
 *
 * Only permanent errors end the Observables: missing rights, a query that the participant rejects, a gap with
 * `onGap: 'fail'`, or an update that cannot be decoded, after a `'stale'` state with the contracts before it. They are the errors of `ledger.updates`, and `SnapshotLimitError`. An outage ends them only if it
 * lasts longer than `giveUpAfterMs` in the retry policy of the options or of the ledger. The view can be subscribed to
 * again after an error. An error thrown by your predicate or comparison ends only the subscription that uses it.
 *
 * @category Contracts
 */
export interface LiveContracts<C extends AnyContract = AnyContract> {
  /**
   * Emits the contracts, whether they are current, and the state of the connection: immediately, and whenever one of them
   * changes.
   */
  readonly state$: Observable<LiveState<C>>;
  /**
   * Emits a `Reset` with the current contracts as soon as they are known, and then every later change, once and in
   * order. Nothing is left out, however slow the subscriber is. The other elements are those of `contractChanges`.
   */
  readonly changes$: Observable<ContractChange<C>>;
  /**
   * Emits all contracts as soon as they are known, and again whenever they have changed. An empty array always means
   * that there are none. The changes of one page of updates are emitted as one array.
   *
   * @param compare - the order, as for `Array.sort`; default: the order in which they became known
   */
  all$(compare?: (a: C, b: C) => number): Observable<readonly C[]>;
  /** Emits a contract as soon as it is known, and whenever it changes; `undefined` if it is known not to exist. */
  byId$(contractId: string): Observable<C | undefined>;
  /**
   * Emits the matching contracts as soon as they are known, and again whenever they have changed. The predicate is
   * called once for each contract, and again for a contract that was moved.
   *
   * @param predicate - must always return the same result for the same contract; a type guard narrows the contracts
   * @param compare - the order, as for `Array.sort`; default: the order in which they became known
   */
  select$<S extends C>(
    predicate: (contract: C) => contract is S,
    compare?: (a: S, b: S) => number,
  ): Observable<readonly S[]>;
  /** The same for a predicate that is not a type guard. */
  select$(predicate: (contract: C) => boolean, compare?: (a: C, b: C) => number): Observable<readonly C[]>;
  /** Emits the number of matching contracts, by default of all, as soon as it is known and whenever it changes. */
  count$(predicate?: (contract: C) => boolean): Observable<number>;
  /**
   * Waits until everything up to an offset has been applied, emits the offset up to which that is the case, and
   * completes. To read what you have written, pass the offset of your transaction. It also emits if the transaction
   * changes no contract of the view, but then it may take half a minute, until the next checkpoint. It never emits if
   * the ledger does not reach the offset: add `timeout`.
   *
   * @throws TypeError if `offset` is not an offset
   */
  atOffset(offset: Offset): Observable<Offset>;
  /**
   * Emits the first state that includes a transaction, and completes: the view then shows what the transaction has changed.
   * Pass a transaction that you have submitted with the same ledger. It also emits if the transaction changes no contract of
   * the view, but then it may take half a minute, until the next checkpoint: add `timeout`.
   *
   * While it waits, it fails with the error that ends the view, and with a `LedgerResetError` if the view continues with another
   * ledger. A participant that was restored has other offsets: the record time of the transaction finds it there.
   */
  after(transaction: Pick<Transaction, 'offset' | 'synchronizerId' | 'recordTime'>): Observable<ContractsKnown<C>>;
  /**
   * For operators on views, such as `conflate`.
   *
   * @internal
   */
  readonly view$: Observable<View<C>>;
  /**
   * The parties whose contracts the view reads; `undefined` if they may change.
   *
   * @internal
   */
  readonly parties: readonly string[] | 'any' | undefined;
}

/**
 * Returns a live view of the active contracts of a query: a snapshot, and then every change. Cold: no request is sent
 * before the first subscription to one of its Observables, which all share one snapshot and one feed.
 *
 * A view never shows a partial state: the contracts are known once the snapshot is complete, and an update of the
 * ledger takes effect as a whole. Transient failures show in `state$` and do not end the Observables. Without
 * `giveUpAfterMs` in the retry policy of the options or of the ledger, that holds for an outage of any length.
 *
 * @throws TypeError for invalid options, for a query without parties or with an invalid template, and if the `updates`
 * of the ledger were replaced, synchronously
 * @throws InvalidRequestError for an invalid party, synchronously
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
  const view$ = openView(ledger, query, options);
  const { parties } = copyOf(query);
  return toLiveContracts(
    view$.pipe(share({ connector: () => new BehaviorSubject<View<ContractOf<M>>>(loading) })),
    isObservable(parties) ? undefined : parties,
  );
}

/** Returns the Observables of a view. Each keeps its own state. */
export function toLiveContracts<C extends AnyContract>(
  view$: Observable<View<C>>,
  parties?: readonly string[] | 'any',
): LiveContracts<C> {
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
        ? contracts$.pipe(map(({ size }) => size))
        : known$.pipe(
            selectContracts(predicate as (contract: C) => contract is C),
            map(({ size }) => size),
          )
      ).pipe(distinctUntilChanged()),
    atOffset: (offset) => {
      checkOffset(offset);
      return known$.pipe(
        map((known) => known.offset),
        filter((reached) => reached >= offset),
        take(1),
      );
    },
    after: (transaction) => firstWith(view$, transaction),
    view$,
    parties,
  };
}
