import type { ContractEntry } from '../codecs/ContractEntry.js';
import type { ArchivedEvent, CreatedEvent, ExercisedEvent, TransactionEvent } from '../codecs/Event.js';
import type { Reassignment, ReassignmentEvent, UnassignedEvent } from '../codecs/Reassignment.js';
import type { Int64 } from '../codecs/scalars.js';
import type { Transaction } from '../codecs/Transaction.js';
import type { AnyContract, ContractLocation, MakeContract } from './Contract.js';
import {
  type ContractsDifference,
  type ContractsUpdated,
  differenceOf,
  isDifference,
  isSameContract,
} from './ContractChange.js';
import { ContractList, type ContractSet } from './ContractSet.js';
import {
  activate,
  activeOn,
  archive,
  awaitedFrom,
  inEach,
  isComplete,
  isUnknown,
  lastOf,
  leave,
  noTrace,
  pair,
  type Trace,
} from './Trace.js';
import { contractFor, partiesOfContract, seenAlso } from './parties/seenBy.js';

/**
 * The contracts of a query, from a snapshot and the updates after it. Mutable, so the cost of an update depends only on
 * what it changes.
 *
 * A participant sees the updates of one synchronizer in order, but those of one synchronizer may be ahead of those of
 * another: it may see that a contract was assigned, and even archived, before it sees that it was unassigned elsewhere.
 */
export class ContractsFold<C extends AnyContract> {
  readonly #make: MakeContract<C>;
  readonly #contracts = new ContractList<C>();
  /** Only for the few contracts that are not simply active on one synchronizer. */
  #traces = new Map<string, Trace<C>>();
  /** Those of them that are spent, and of which something is to come from a synchronizer never seen here, the first one first. */
  #spent = new Set<string>();
  #lacked: readonly EndingEvent[] = [];
  /** Shared by the contracts at each location. */
  readonly #locations = new Map<string, ContractLocation>();

  constructor(makeContract: MakeContract<C>) {
    this.#make = makeContract;
  }

  /** The contracts after the last update: the same object until one of them changes. */
  get contracts(): ContractSet<C> {
    return this.#contracts.snapshot;
  }

  /** The events of the last update that ended or moved a contract which is unknown here. */
  get lacked(): readonly EndingEvent[] {
    return this.#lacked;
  }

  /** Adds entries of the snapshot, in any order. */
  load(entries: readonly ContractEntry[]): void {
    for (const entry of entries) {
      const edit = this.#editOfEntry(entry);
      if (edit !== undefined) this.#set(edit.contractId, edit.run(this.#traceOf(edit.contractId)));
    }
  }

  /** Marks the snapshot as complete: a contract that was assigned last, but is not active on the target, is spent. */
  settle(): void {
    for (const [contractId, trace] of this.#traces) {
      if (this.#contracts.get(contractId) !== undefined || trace.halves.length === 0) continue;
      const { target } = trace.halves.reduce((last, half) => (half.counter > last.counter ? half : last));
      this.#remember(contractId, { ...trace, spentOn: target });
    }
  }

  /**
   * Applies an update. Returns `undefined` if it neither changes nor exercises a contract. If it throws, nothing has
   * changed.
   */
  apply(update: Transaction | Reassignment): ContractsUpdated<C> | undefined {
    const traces = new Map<string, Trace<C>>();
    const lacked: EndingEvent[] = [];
    for (const event of update.events) {
      const edit = this.#editOf(event, update);
      if (edit === undefined) continue;
      const { contractId, run } = edit;
      const trace = traces.get(contractId) ?? this.#traceOf(contractId);
      if (isEnding(event) && isUnknown(trace)) lacked.push(event);
      traces.set(contractId, run(trace));
    }
    this.#lacked = lacked;
    const before = new Map([...traces.keys()].map((contractId) => [contractId, this.#contracts.get(contractId)]));
    for (const [contractId, trace] of traces) this.#set(contractId, trace);
    const difference = differenceOf(before.keys(), before, this.#contracts);
    if (!isDifference(difference) && !update.events.some(isExercise)) return undefined;
    const { offset, updateId, synchronizerId, recordTime } = update;
    const on = synchronizerId === undefined ? {} : { synchronizerId };
    return { _tag: 'ContractsChanged', offset, updateId, ...on, recordTime, update, ...difference };
  }

  /**
   * Takes the contracts of another fold, which was read at the offset of this one, and returns how they differ. Contracts
   * that are the same stay the same objects, in the same order.
   */
  reconcile(read: ContractsFold<C>): ContractsDifference<C> {
    const before = this.contracts;
    const now = read.contracts;
    const contractIds = new Set([...before, ...now].map(({ contractId }) => contractId));
    this.#traces = new Map(read.#traces);
    this.#spent = new Set(read.#spent);
    for (const contractId of contractIds) {
      const former = before.get(contractId);
      const contract = now.get(contractId);
      if (former === undefined || contract === undefined || !isSameContract(former, contract))
        this.#contracts.set(contractId, contract);
      else this.#keepInTrace(contractId, contract, former);
    }
    return differenceOf(contractIds, before, this.#contracts);
  }

  /**
   * Selects other parties, and returns how the contracts differ. Those that were there and still are stay the same objects,
   * unless they have other witnesses now.
   *
   * @param parties - those that are selected from now on
   * @param read - what those see that were not selected before, and maybe others, at the offset of this fold
   */
  select(parties: ReadonlySet<string>, read = new ContractsFold<C>(this.#make)): ContractsDifference<C> {
    const before = this.contracts;
    const touched = new Set<string>();
    const put = (contractId: string, trace: Trace<C>): void => {
      this.#set(contractId, trace);
      touched.add(contractId);
    };
    const isSeen = (contract: C): boolean => partiesOfContract(contract).some((party) => parties.has(party));
    const show = (contract: C): C => contractFor(contract, parties);
    for (const contractId of read.#contractIds) {
      const added = read.contracts.get(contractId);
      if (added !== undefined && !isSeen(added)) continue;
      // one that was there is kept up to date already
      if (!before.has(contractId)) put(contractId, inEach(read.#traceOf(contractId), show));
      else if (added)
        put(
          contractId,
          inEach(this.#traceOf(contractId), (contract) => seenAlso(contract, show(added))),
        );
    }
    for (const contract of this.contracts) {
      if (show(contract) === contract) continue;
      const { contractId } = contract;
      put(contractId, isSeen(contract) ? inEach(this.#traceOf(contractId), show) : noTrace);
    }
    return differenceOf(touched, before, this.#contracts);
  }

  /** The IDs of the contracts, and of those of which something is still to come. */
  get #contractIds(): ReadonlySet<string> {
    return new Set([...this.contracts.toArray().map(({ contractId }) => contractId), ...this.#traces.keys()]);
  }

  /** A trace must have the same object as the list. */
  #keepInTrace(contractId: string, contract: C, former: C): void {
    const trace = this.#traces.get(contractId);
    if (trace === undefined) return;
    const keep = (other: C): C => (other === contract ? former : other);
    this.#traces.set(contractId, inEach(trace, keep));
  }

  #traceOf(contractId: string): Trace<C> {
    const trace = this.#traces.get(contractId);
    if (trace !== undefined) return trace;
    const contract = this.#contracts.get(contractId);
    return contract ? { active: [contract], halves: [] } : noTrace;
  }

  #set(contractId: string, trace: Trace<C>): void {
    this.#contracts.set(contractId, lastOf(trace));
    if (isComplete(trace)) this.#forget(contractId);
    else this.#remember(contractId, trace);
  }

  #remember(contractId: string, trace: Trace<C>): void {
    this.#traces.set(contractId, trace);
    // what is late from a synchronizer that is seen would show a forgotten contract again
    const mayNeverEnd =
      trace.spentOn !== undefined &&
      trace.active.length === 0 &&
      !awaitedFrom(trace).some((synchronizerId) => this.#locations.has(synchronizerId));
    if (mayNeverEnd) this.#spent.add(contractId);
    else this.#spent.delete(contractId);
    const [first] = this.#spent.size > maxSpent ? this.#spent : [];
    if (first !== undefined) this.#forget(first);
  }

  #forget(contractId: string): void {
    this.#traces.delete(contractId);
    this.#spent.delete(contractId);
  }

  #editOfEntry(entry: ContractEntry): Edit<C> | undefined {
    switch (entry._tag) {
      case 'ActiveContract':
        // 3.3 also sends contracts that were only divulged; a feed never shows their end
        if (!isActivation(entry.createdEvent)) return undefined;
        return this.#activation(entry.createdEvent, entry.synchronizerId, entry.reassignmentCounter);
      case 'IncompleteUnassigned': {
        const { contractId, source, target, reassignmentCounter: counter } = entry.unassignedEvent;
        const inFlight = this.#make(entry.createdEvent, { inFlight: { source, target } }, counter);
        const half = { isAssigned: false, counter, source, target, inFlight };
        return inFlight && { contractId, run: (trace) => pair(trace, half) };
      }
      case 'IncompleteAssigned': {
        const { createdEvent, source, target, reassignmentCounter: counter } = entry.assignedEvent;
        const { contractId } = createdEvent;
        const contract = this.#make(createdEvent, this.#at(target), counter);
        return contract && { contractId, run: (trace) => pair(trace, { isAssigned: true, counter, source, target }) };
      }
      default:
        return undefined;
    }
  }

  #editOf(event: TransactionEvent | ReassignmentEvent, update: Transaction | Reassignment): Edit<C> | undefined {
    const { synchronizerId = '' } = update;
    switch (event._tag) {
      case 'CreatedEvent':
        return isActivation(event) ? this.#activation(event, synchronizerId, 0) : undefined;
      case 'ArchivedEvent':
        return archival(event, synchronizerId);
      case 'ExercisedEvent':
        return event.consuming && event.acsDelta !== false ? archival(event, synchronizerId) : undefined;
      case 'AssignedEvent':
        return this.#activation(event.createdEvent, event.target, event.reassignmentCounter, event.source);
      case 'UnassignedEvent':
        return { contractId: event.contractId, run: (trace) => this.#unassign(trace, event) };
      default:
        return undefined;
    }
  }

  #activation(created: CreatedEvent, target: string, counter: Int64, source = target): Edit<C> | undefined {
    const contract = this.#make(created, this.#at(target), counter);
    if (contract === undefined) return undefined;
    const run = (trace: Trace<C>): Trace<C> => {
      const active = activate(trace, contract, target);
      return source === target ? active : pair(active, { isAssigned: true, counter, source, target });
    };
    return { contractId: created.contractId, run };
  }

  #unassign(trace: Trace<C>, event: UnassignedEvent): Trace<C> {
    const { source, target, reassignmentCounter: counter } = event;
    const left = leave(trace, source);
    if (source === target) return left;
    const last = activeOn(trace, source);
    const inFlight = last && { ...last, location: { inFlight: { source, target } }, reassignmentCounter: counter };
    return pair(left, { isAssigned: false, counter, source, target, inFlight });
  }

  #at(synchronizerId: string): ContractLocation {
    const location = this.#locations.get(synchronizerId) ?? { synchronizerId };
    this.#locations.set(synchronizerId, location);
    return location;
  }
}

/**
 * How many spent contracts are remembered of which something may still come from a synchronizer on which no contract was seen.
 * From one that the participant does not see, it never comes.
 */
const maxSpent = 100_000;

/** The effect of an event or an entry on a contract. */
interface Edit<C extends AnyContract> {
  readonly contractId: string;
  readonly run: (trace: Trace<C>) => Trace<C>;
}

/** An event that ends or moves a contract, and does not have its content. */
export type EndingEvent = ArchivedEvent | ExercisedEvent | UnassignedEvent;

const isEnding = (event: TransactionEvent | ReassignmentEvent): event is EndingEvent =>
  event._tag === 'ArchivedEvent' || event._tag === 'ExercisedEvent' || event._tag === 'UnassignedEvent';

const isExercise = ({ _tag }: TransactionEvent | ReassignmentEvent): boolean => _tag === 'ExercisedEvent';

/**
 * Whether one of the parties is a stakeholder of the contract. Otherwise they only witness its creation, and may not see
 * that it is archived. 3.3 has no `acsDelta`: there, a witness of the creation must be a stakeholder, if both are given.
 */
function isActivation({ acsDelta, witnessParties, signatories, observers }: CreatedEvent): boolean {
  if (acsDelta !== undefined) return acsDelta;
  const stakeholders = [...signatories, ...observers];
  if (witnessParties.length === 0 || stakeholders.length === 0) return true;
  return witnessParties.some((party) => stakeholders.includes(party));
}

const archival = <C extends AnyContract>(
  { contractId }: ArchivedEvent | ExercisedEvent,
  synchronizerId: string,
): Edit<C> => ({ contractId, run: (trace) => archive(trace, synchronizerId) });
