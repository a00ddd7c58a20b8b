import {
  BehaviorSubject,
  defer,
  distinctUntilChanged,
  filter,
  isObservable,
  map,
  type Observable,
  type OperatorFunction,
  share,
  take,
} from 'rxjs';
import { checkOffset } from '../codecs/internal/field.js';
import type { Offset } from '../codecs/scalars.js';
import type { Transaction } from '../codecs/Transaction.js';
import type { LedgerPosition } from '../codecs/LedgerPosition.js';
import type { Diagnostic, WorkName } from '../diagnostics/Diagnostic.js';
import { reportOf, reportWithout } from '../client/Client.js';
import { reportEnd } from '../feed/updates.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import type { AnyContract, ContractOf, ContractTypes } from './Contract.js';
import type { ContractChange, ContractsBatch } from './ContractChange.js';
import {
  type ContractPolicies,
  type ContractQuery,
  type ContractsOptions,
  type ContractsSource,
  readFrom,
  checkQuery,
  copyOf,
} from './ContractQuery.js';
import type { ContractSet } from './ContractSet.js';
import { firstWith } from './firstWith.js';
import { join } from './join.js';
import { type ContractsKnown, isSameState, type LiveState, loading, resetOf } from './LiveState.js';
import { stateOf, toChanges, type View, viewOf } from './LiveState.js';

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

/** Contracts that were read before, and where; `'otherLedger'` if another one has taken the place of their ledger. */
export type ContractsHad =
  | 'otherLedger'
  | {
      readonly position: LedgerPosition;
      /** Whether contracts that are read there again are the same. */
      readonly areSame: (contracts: ContractSet) => boolean;
    };

/** How a view is opened for another part of the library. */
interface ViewDetails {
  /** The rule whose view it is, for its diagnostics. */
  readonly name?: WorkName | undefined;
  /** The diagnostics that it does not report. */
  readonly unreported?: readonly Diagnostic['_tag'][] | undefined;
  /** What the subscriber has: it is read again without a `Reset`, unless it is that of another ledger. */
  readonly after?: ContractsHad | undefined;
}

/** Returns a view that is not shared: each subscription begins with a snapshot. Throws for an invalid query. */
export function openView<M extends ContractTypes>(
  ledger: LedgerReader,
  query: ContractQuery<M> & ContractPolicies,
  options: ContractsOptions = {},
  { name, unreported = [], after }: ViewDetails = {},
): Observable<View<ContractOf<M>>> {
  checkQuery(query);
  const own = copyOf(query);
  // an outage of any length must not end the view
  const defaults = { giveUpAfterMs: Infinity };
  const read = (given: ContractsSource): Observable<View<ContractOf<M>>> => {
    const source = { ...given, report: reportWithout(reportOf(given.report, name), ...unreported) };
    const { client, feed } = source;
    const steps$ = join(source, { query: own, ...(after && continuing(after)) }).pipe(
      reportEnd<ContractsBatch<AnyContract>>(source.report),
    );
    return viewOf(
      // the contracts have the types of the query
      steps$ as Observable<ContractsBatch<ContractOf<M>>>,
      client.diagnostics$.pipe(filter((diagnostic) => diagnostic.feed === feed)),
    );
  };
  return readFrom(ledger, options, read, defaults);
}

/** Where to begin after what the subscriber has. */
function continuing(after: ContractsHad) {
  if (after === 'otherLedger') return { reason: 'ledgerReset' } as const;
  const { position, areSame } = after;
  const compare = (contracts: ContractSet) => (areSame(contracts) ? 'same' : 'otherLedger');
  return { resumeFrom: position.offset, position, compare } as const;
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

/**
 * Emits the matching contracts, at first and whenever they have changed. It is always the same mutable object: read it
 * immediately.
 */
const selectContracts =
  <C extends AnyContract, S extends C>(
    isMatch: (contract: C) => contract is S,
    compare?: (a: S, b: S) => number,
  ): OperatorFunction<ContractsBatch<C>, MutableSelection<C, S>> =>
  (known$) =>
    defer(() => {
      const selection = new MutableSelection(isMatch, compare);
      return known$.pipe(
        filter((known, index) =>
          index === 0 || resetOf(known) !== undefined ? selection.load(known.contracts) : selection.apply(known.items),
        ),
        map(() => selection),
      );
    });

/**
 * The number of changes in a step up to which each is inserted at its place. For more changes, sorting again is faster.
 */
const maxPlaced = 1_000;

/** Contracts that match a predicate. The cost of a change does not depend on their number. */
class MutableSelection<C extends AnyContract, S extends C> {
  readonly #byId = new Map<string, S>();
  /** `undefined` if the order is not known. */
  #sorted: S[] | undefined;

  constructor(
    private readonly isMatch: (contract: C) => contract is S,
    private readonly compare: ((a: S, b: S) => number) | undefined,
  ) {}

  get size(): number {
    return this.#byId.size;
  }

  /** Returns the contracts in order, as a new array. */
  toArray(): readonly S[] {
    if (this.compare === undefined) return [...this.#byId.values()];
    this.#sorted ??= [...this.#byId.values()].sort(this.compare);
    return [...this.#sorted];
  }

  /** Starts over with all contracts. That counts as a change. */
  load(contracts: ContractSet<C>): boolean {
    this.#byId.clear();
    for (const contract of contracts) if (this.isMatch(contract)) this.#byId.set(contract.contractId, contract);
    this.#sorted = undefined;
    return true;
  }

  /** Applies changes. Returns whether one of them concerns a matching contract. */
  apply(changes: ContractsBatch<C>['items']): boolean {
    let isChanged = false;
    let count = 0;
    for (const change of changes) {
      if (change._tag !== 'ContractsChanged') continue;
      const { added, removed, moved } = change;
      count += added.length + removed.length + moved.length;
      if (count > maxPlaced) this.#sorted = undefined;
      for (const { contractId } of removed) isChanged = this.#replace(contractId, undefined) || isChanged;
      for (const contract of [...added, ...moved.map((move) => move.contract)]) {
        const match = this.isMatch(contract) ? contract : undefined;
        isChanged = this.#replace(contract.contractId, match) || isChanged;
      }
    }
    return isChanged;
  }

  #replace(contractId: string, contract: S | undefined): boolean {
    const before = this.#byId.get(contractId);
    if (before !== undefined) this.#unsort(before);
    if (contract === undefined) return this.#byId.delete(contractId);
    this.#byId.set(contractId, contract);
    this.#sort(contract);
    return true;
  }

  #sort(contract: S): void {
    const { compare } = this;
    const sorted = this.#sorted;
    if (compare === undefined || sorted === undefined) return;
    const index = countWhile(sorted, (other) => compare(other, contract) <= 0);
    sorted.splice(index, 0, contract);
  }

  #unsort(contract: S): void {
    const { compare } = this;
    const sorted = this.#sorted;
    if (compare === undefined || sorted === undefined) return;
    const first = countWhile(sorted, (other) => compare(other, contract) < 0);
    const index = sorted.indexOf(contract, first);
    // an inconsistent order, such as one that never returns 0, does not find it
    sorted.splice(index < 0 ? sorted.indexOf(contract) : index, 1);
  }
}

/** Returns the number of leading elements for which a condition holds, by binary search. */
function countWhile<A>(sorted: readonly A[], condition: (element: A) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (condition(sorted[middle] as A)) low = middle + 1;
    else high = middle;
  }
  return low;
}
