import { BehaviorSubject, defer, map, merge, Observable } from 'rxjs';
import type { Offset } from '../../codecs/scalars.js';
import type { AnyContract } from '../Contract.js';
import type { ContractsBatch, ContractsChanged, Reset } from '../ContractChange.js';
import type { ContractSet } from '../ContractSet.js';
import { loading, type View } from '../LiveState.js';
import { type ChangePart, PartyReader } from './PartyReader.js';
import { partiesOfContract, partiesOfEvent } from './seenBy.js';

/**
 * The contracts of a live view by party, and their readers. The cost of a change depends only on what readers see of it, not
 * on their number.
 */
export class PartyIndex<C extends AnyContract> {
  /** The last view of all contracts. */
  #view: View<C> = loading;
  /** The contracts that each party sees, by ID. */
  #contracts = new Map<string, Map<string, C>>();
  /** Where the views of each reader go. */
  readonly #readers = new Map<PartyReader<C>, (view: View<C>) => void>();
  readonly #readersOf = new Map<string, Set<PartyReader<C>>>();
  readonly #applied$ = new BehaviorSubject<View<C>>(loading);

  /** Emits the view of all contracts of which all readers have every change: at once, and after each step. */
  readonly applied$: Observable<View<C>> = this.#applied$.asObservable();

  /** Emits the views of what some parties see. */
  viewOf(parties$: Observable<ReadonlySet<string>>): Observable<View<C>> {
    return defer(() => {
      const reader = new PartyReader<C>();
      return merge(this.#read(reader), parties$.pipe(map((parties) => this.#select(reader, parties))));
    });
  }

  /** Takes the next view of all contracts, and emits the views of the readers that it concerns. */
  apply(view: View<C>): void {
    const before = this.#view;
    const { known } = view;
    this.#view = view;
    const concerned = new Set<PartyReader<C>>();
    if (known !== undefined && known !== before.known) {
      if (before.known === undefined) this.#load(known.contracts, 'start', known.offset);
      else {
        this.#applyItems(known.items, new Former(before.known.contracts), concerned);
        if (hasOtherParties(known)) this.#lose(known.parties, concerned);
      }
    }
    if (!isSameConnection(before, view)) this.#addAll(concerned);
    for (const reader of concerned) this.#readers.get(reader)?.(reader.viewIn(this.#view));
    if (known !== before.known) this.#applied$.next(view);
  }

  #read(reader: PartyReader<C>): Observable<View<C>> {
    return new Observable((subscriber) => {
      this.#readers.set(reader, (view) => {
        subscriber.next(view);
      });
      subscriber.next(reader.viewIn(this.#view));
      return () => {
        this.#readers.delete(reader);
        this.#leave(reader);
      };
    });
  }

  #select(reader: PartyReader<C>, parties: ReadonlySet<string>): View<C> {
    this.#leave(reader);
    for (const party of parties) {
      const readers = this.#readersOf.get(party) ?? new Set();
      this.#readersOf.set(party, readers.add(reader));
    }
    reader.select(parties, this.#seenBy(parties), this.#view.known?.offset);
    return reader.viewIn(this.#view);
  }

  #leave(reader: PartyReader<C>): void {
    for (const party of reader.parties) {
      const readers = this.#readersOf.get(party);
      readers?.delete(reader);
      if (readers?.size === 0) this.#readersOf.delete(party);
    }
  }

  #addAll(concerned: Set<PartyReader<C>>): void {
    for (const reader of this.#readers.keys()) concerned.add(reader);
  }

  /** Lets readers know that a party of theirs may not be read any more. */
  #lose(read: ContractsBatch<C>['parties'], concerned: Set<PartyReader<C>>): void {
    if (read === 'any') return;
    for (const reader of this.#readers.keys()) {
      const hasAll = read !== undefined && [...reader.parties].every((party) => read.includes(party));
      if (!hasAll && reader.lose()) concerned.add(reader);
    }
  }

  #applyItems(items: ContractsBatch<C>['items'], before: Former<C>, concerned: Set<PartyReader<C>>): void {
    for (const item of items) {
      this.#applyItem(item, before, concerned);
      before.add(item);
    }
  }

  /** @param before - the contracts before the item */
  #applyItem(item: ContractsBatch<C>['items'][number], before: Former<C>, concerned: Set<PartyReader<C>>): void {
    switch (item._tag) {
      case 'Reset':
        this.#load(item.contracts, item.reason, item.offset);
        this.#addAll(concerned);
        return;
      case 'OffsetCheckpoint':
        // those of the participant are rare; a page may end with one that says nothing else
        if (item.synchronizerTimes.length > 0) this.#addAll(concerned);
        for (const reader of concerned) reader.checkpoint(item);
        return;
      case 'ContractsChanged':
        for (const [reader, part] of this.#partsOf(item, before)) if (reader.apply(item, part)) concerned.add(reader);
    }
  }

  #load(contracts: Iterable<C>, reason: Reset['reason'], offset: Offset): void {
    this.#contracts = new Map();
    for (const contract of contracts) this.#put(contract);
    for (const reader of this.#readers.keys()) reader.load(this.#seenBy(reader.parties), reason, offset);
  }

  /** Applies a change to the index. Returns what each reader sees of it. */
  #partsOf(change: ContractsChanged<C>, before: Former<C>): ReadonlyMap<PartyReader<C>, ChangePart<C>> {
    const parts = new Map<PartyReader<C>, ChangePart<C>>();
    for (const contract of change.removed) {
      this.#remove(contract);
      for (const [, part] of this.#partsFor(partiesOfContract(contract), parts)) part.removed.push(contract);
    }
    for (const contract of change.added) {
      this.#put(contract);
      for (const [, part] of this.#partsFor(partiesOfContract(contract), parts)) part.added.push(contract);
    }
    for (const move of change.moved) {
      const { contract } = move;
      // only a change of the selection shows a contract to others than before
      const former = before.get(contract.contractId) ?? contract;
      if (former !== contract) this.#remove(former);
      this.#put(contract);
      const now = partiesOfContract(contract);
      for (const [reader, part] of this.#partsFor([...partiesOfContract(former), ...now], parts)) {
        if (!reader.isOneOf(now)) part.removed.push(contract);
        else if (reader.isOneOf(partiesOfContract(former))) part.moved.push(move);
        else part.added.push(contract);
      }
    }
    for (const event of change.update?.events ?? [])
      for (const [, part] of this.#partsFor(partiesOfEvent(event), parts)) part.events.push(event);
    return parts;
  }

  /** Returns the parts of the readers of some parties, each once. */
  #partsFor(
    parties: readonly string[],
    parts: Map<PartyReader<C>, ChangePart<C>>,
  ): ReadonlyMap<PartyReader<C>, ChangePart<C>> {
    const found = new Map<PartyReader<C>, ChangePart<C>>();
    for (const party of parties)
      for (const reader of this.#readersOf.get(party) ?? []) {
        const part = parts.get(reader) ?? { added: [], removed: [], moved: [], events: [] };
        parts.set(reader, part);
        found.set(reader, part);
      }
    return found;
  }

  #put(contract: C): void {
    for (const party of partiesOfContract(contract)) {
      const contracts = this.#contracts.get(party) ?? new Map<string, C>();
      this.#contracts.set(party, contracts.set(contract.contractId, contract));
    }
  }

  #remove(contract: C): void {
    for (const party of partiesOfContract(contract)) {
      const contracts = this.#contracts.get(party);
      contracts?.delete(contract.contractId);
      if (contracts?.size === 0) this.#contracts.delete(party);
    }
  }

  /** Returns the contracts that some parties see. One that several of them see may be there several times. */
  *#seenBy(parties: Iterable<string>): Generator<C, void> {
    for (const party of parties) yield* this.#contracts.get(party)?.values() ?? [];
  }
}

/** The contracts before each item of a step. Those before the step are not enough: two items may show a contract to others. */
class Former<C extends AnyContract> {
  readonly #changed = new Map<string, C>();

  constructor(private contracts: Pick<ContractSet<C>, 'get'>) {}

  get(contractId: string): C | undefined {
    return this.#changed.get(contractId) ?? this.contracts.get(contractId);
  }

  /** Takes an item: what follows is after it. */
  add(item: ContractsBatch<C>['items'][number]): void {
    if (item._tag === 'Reset') {
      this.#changed.clear();
      this.contracts = new Map(item.contracts.map((contract) => [contract.contractId, contract]));
    }
    if (item._tag !== 'ContractsChanged') return;
    for (const contract of [...item.added, ...item.moved.map((move) => move.contract)])
      this.#changed.set(contract.contractId, contract);
  }
}

/** Whether the contracts of other parties are read than before. A server does not say which these are. */
const hasOtherParties = ({ parties, items }: Pick<ContractsBatch<AnyContract>, 'parties' | 'items'>): boolean =>
  parties !== undefined || items.some((item) => item._tag === 'ContractsChanged' && item.reason === 'selectionChanged');

/** Whether two views differ in nothing but the contracts. */
const isSameConnection = <C extends AnyContract>(a: View<C>, b: View<C>): boolean =>
  a.connection === b.connection &&
  a.isLive === b.isLive &&
  a.isReloading === b.isReloading &&
  a.known?.isCaughtUp === b.known?.isCaughtUp;
