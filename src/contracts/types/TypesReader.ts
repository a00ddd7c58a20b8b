import type { CreatedEvent } from '../../codecs/Event.js';
import { bareOffset, type LedgerPosition } from '../../codecs/LedgerPosition.js';
import { advance } from '../../history/positions.js';
import type { AnyContract, MakeContract } from '../Contract.js';
import {
  type ContractsBatch,
  type ContractsChanged,
  isDifference,
  isSameContract,
  type Moved,
  type Reset,
} from '../ContractChange.js';
import { ContractList } from '../ContractSet.js';
import type { ContractsHad } from '../openView.js';
import type { View } from '../LiveState.js';
import { haveSameWitnesses } from '../parties/seenBy.js';
import type { TypesFilter } from './TypesFilter.js';

/** A view of some types, and the error that ends it if one of their contracts cannot be decoded. */
export interface TypesView {
  readonly view: View<AnyContract>;
  readonly failure?: { readonly error: unknown };
}

type Item = ContractsBatch<AnyContract>['items'][number];

/**
 * A reader of the contracts of some types, out of a view of more types. It makes its contracts itself, with the names and
 * decoders of its query, and has what a view of these types alone has.
 */
export class TypesReader {
  readonly #filter: TypesFilter;
  readonly #make: MakeContract;
  #contracts = new ContractList<AnyContract>();
  /** The contracts that were made of events, so that a contract that moves is not decoded again. */
  #made = new WeakMap<CreatedEvent, AnyContract>();
  /** The last step of the view of more types. */
  #read: ContractsBatch<AnyContract> | undefined;
  /** What was read of the history of these types alone, since their contracts were read. */
  #history = bareOffset(0);
  /** The last step of this view. */
  #known: ContractsBatch<AnyContract> | undefined;

  constructor(filter: TypesFilter, make: MakeContract) {
    this.#filter = filter;
    this.#make = make;
  }

  /** Whether nothing is known of the contracts yet. */
  get isEmpty(): boolean {
    return this.#read === undefined;
  }

  /**
   * What is known, to read it again; `undefined` if it cannot be found there. What was read last need not be of these types: the
   * last update of them, the participant and the contracts show the ledger.
   */
  get had(): ContractsHad | undefined {
    if (this.#read === undefined) return undefined;
    const { offset, origin, position, reloads } = this.#read;
    if (reloads === 'ledgerReset') return 'otherLedger';
    const { participantId } = position;
    if (!origin.isAddressed || position.offset < offset || participantId === undefined) return undefined;
    const before = this.#contracts.snapshot;
    return {
      position: { ...this.#history, offset, participantId },
      areSame: (read) => read.size === before.size && before.toArray().every(({ contractId }) => read.has(contractId)),
    };
  }

  /** Returns the view of these types at the next view of more types: with the same step if that is none for them. */
  viewIn({ known: read, ...rest }: View<AnyContract>): TypesView {
    if (read === undefined) return { view: rest };
    const before = this.#read;
    this.#read = read;
    const failure = read === before ? undefined : this.#take(read);
    const view = { ...rest, ...(this.#known && { known: this.#known }) };
    return failure === undefined ? { view } : { view: { ...view, isLive: false }, failure };
  }

  #take(read: ContractsBatch<AnyContract>): TypesView['failure'] {
    const items: Item[] = [];
    let failure: TypesView['failure'];
    try {
      if (this.#known === undefined) items.push(this.#load({ ...read, reason: 'start' }));
      else for (const item of read.items) items.push(...this.#apply(item));
    } catch (error) {
      failure = { error };
      // without the contracts before it, there is nothing to show
      if (this.#known === undefined) return failure;
    }
    this.#history = this.#historyAfter(read, items);
    const contracts = this.#contracts.snapshot;
    const offset = failure === undefined ? read.offset : (items.at(-1)?.offset ?? this.#known?.offset ?? read.offset);
    // what cannot be decoded was not read
    const position =
      failure === undefined ? read.position : advance(read.origin.before, updatesIn(items), read.origin.isAddressed);
    if (this.#isStep(read, items)) this.#known = { ...read, items, contracts, offset, position };
    return failure;
  }

  /** Returns the history after a step. What was read again without an update, or elsewhere, is not a part of it. */
  #historyAfter({ items, isMoved, origin }: ContractsBatch<AnyContract>, own: readonly Item[]): LedgerPosition {
    const isRead = items.every((item) => item._tag !== 'Reset' && !('reason' in item));
    if (!isRead || isMoved === true || this.#known === undefined) return bareOffset(0);
    return advance(this.#history, updatesIn(own), origin.isAddressed);
  }

  /** Whether a step is one for these types: if all that it has is of others, their readers alone get it. */
  #isStep({ items: all, isCaughtUp, ...step }: ContractsBatch<AnyContract>, own: readonly unknown[]): boolean {
    const { reloads, differs, isMoved, parties } = step;
    if (own.length > 0 || isCaughtUp !== this.#known?.isCaughtUp) return true;
    if ([reloads, differs, parties].some((part) => part !== undefined)) return true;
    // without the changes of others, it says up to where there are none
    return isMoved === true || (all.length > 0 && all.every(({ _tag }) => _tag !== 'ContractsChanged'));
  }

  #apply(item: Item): readonly Item[] {
    switch (item._tag) {
      case 'Reset':
        return [this.#load(item)];
      case 'OffsetCheckpoint':
        // those of the participant are rare; a page may end with one that says nothing else
        return item.synchronizerTimes.length > 0 ? [item] : [];
      case 'ContractsChanged':
        return this.#change(item);
    }
  }

  #load({ reason, offset, contracts }: Pick<Reset, 'reason' | 'offset'> & { contracts: Iterable<AnyContract> }): Reset {
    const list = new ContractList<AnyContract>();
    for (const each of contracts) list.set(each.contractId, this.#ownOf(each));
    this.#contracts = list;
    return { _tag: 'Reset', reason, offset, contracts: list.snapshot.toArray() };
  }

  #change(change: ContractsChanged): readonly ContractsChanged[] {
    const isSelected = (contractId: string): boolean => this.#contracts.get(contractId) !== undefined;
    const events = change.update && this.#filter.eventsOf(change.update.events, isSelected);
    const added: AnyContract[] = [];
    const removed: AnyContract[] = [];
    const moved: Moved[] = [];
    const now = new Map<string, AnyContract | undefined>(
      change.removed.map(({ contractId }) => [contractId, undefined]),
    );
    for (const each of [...change.added, ...change.moved.map(({ contract }) => contract)])
      now.set(each.contractId, this.#ownOf(each));
    for (const [contractId, contract] of now) {
      const former = this.#contracts.get(contractId);
      if (former === undefined) added.push(...(contract ? [contract] : []));
      else if (contract === undefined) removed.push(former);
      // only what others see of it has changed
      else if (isSameContract(former, contract) && haveSameWitnesses(former, contract)) now.set(contractId, former);
      else moved.push({ contract, from: former.location });
    }
    for (const [contractId, contract] of now) this.#contracts.set(contractId, contract);
    const difference = { added, removed, moved };
    const isExercised = events?.some(({ _tag }) => _tag === 'ExercisedEvent') === true;
    if (!isDifference(difference) && !isExercised) return [];
    if (change.update === undefined) return [{ ...change, ...difference }];
    // the events are of the update
    const update = { ...change.update, events } as typeof change.update;
    return [{ ...change, ...difference, update }];
  }

  /** Returns the contract of a query with these types; `undefined` if they do not select it. */
  #ownOf({ createdEvent, location, reassignmentCounter }: AnyContract): AnyContract | undefined {
    const made = this.#made.get(createdEvent);
    if (made?.location === location && made.reassignmentCounter === reassignmentCounter) return made;
    const contract = made
      ? { ...made, location, reassignmentCounter }
      : this.#make(this.#filter.shown(createdEvent), location, reassignmentCounter);
    if (contract !== undefined) this.#made.set(createdEvent, contract);
    return contract;
  }
}

/** The updates of changes. */
const updatesIn = (items: readonly Item[]) =>
  items.flatMap((item) => (item._tag === 'ContractsChanged' ? (item.update ?? []) : []));
