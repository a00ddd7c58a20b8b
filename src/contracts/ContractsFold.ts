import type { ContractEntry } from '../codecs/ContractEntry.js';
import type { ArchivedEvent, CreatedEvent, Event, ExercisedEvent } from '../codecs/Event.js';
import type { Reassignment, ReassignmentEvent, UnassignedEvent } from '../codecs/Reassignment.js';
import type { Int64 } from '../codecs/scalars.js';
import type { Transaction } from '../codecs/Transaction.js';
import type { AnyContract, ContractLocation } from './Contract.js';
import type { ContractsChanged, Moved } from './ContractChange.js';
import { activate, activeOn, archive, isComplete, lastOf, leave, pair, type Trace } from './Trace.js';

/** Makes the contract of an event. Returns `undefined` if the query does not select it. */
export type MakeContract<C extends AnyContract> = (
  created: CreatedEvent,
  location: ContractLocation,
  reassignmentCounter: Int64,
) => C | undefined;

/**
 * The contracts of a query, from a snapshot and the updates after it. Mutable, so the cost of an update depends only on
 * what it changes.
 *
 * A participant sees the updates of one synchronizer in order, but those of one synchronizer may be ahead of those of
 * another: it may see that a contract was assigned, and even archived, before it sees that it was unassigned elsewhere.
 */
export class ContractsFold<C extends AnyContract> {
  readonly #make: MakeContract<C>;
  readonly #contracts = new Map<string, C>();
  /** Only for the few contracts that are not simply active on one synchronizer. */
  readonly #traces = new Map<string, Trace<C>>();
  /** Shared by the contracts at each location. */
  readonly #locations = new Map<string, ContractLocation>();

  constructor(makeContract: MakeContract<C>) {
    this.#make = makeContract;
  }

  /** The contracts by ID, after the last update. */
  get contracts(): ReadonlyMap<string, C> {
    return this.#contracts;
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
      // a snapshot read from updates already shows which contracts are spent
      if (this.#contracts.has(contractId) || trace.spentOn !== undefined || trace.halves.length === 0) continue;
      const { target } = trace.halves.reduce((last, half) => (half.counter > last.counter ? half : last));
      this.#traces.set(contractId, { ...trace, spentOn: target });
    }
  }

  /**
   * Applies an update. Returns `undefined` if it neither changes nor exercises a contract. If it throws, nothing has
   * changed.
   */
  apply(update: Transaction | Reassignment): ContractsChanged<C> | undefined {
    const traces = new Map<string, Trace<C>>();
    for (const event of update.events) {
      const edit = this.#editOf(event, update);
      if (edit === undefined) continue;
      const { contractId, run } = edit;
      traces.set(contractId, run(traces.get(contractId) ?? this.#traceOf(contractId)));
    }
    const added: C[] = [];
    const removed: C[] = [];
    const moved: Moved<C>[] = [];
    for (const [contractId, trace] of traces) {
      const before = this.#contracts.get(contractId);
      const contract = this.#set(contractId, trace);
      if (before === contract) continue;
      if (before === undefined) added.push(...(contract ? [contract] : []));
      else if (contract === undefined) removed.push(before);
      else moved.push({ contract, from: before.location });
    }
    const isChange = added.length + removed.length + moved.length > 0 || update.events.some(isExercise);
    if (!isChange) return undefined;
    const { offset, updateId, synchronizerId, recordTime } = update;
    const on = synchronizerId === undefined ? {} : { synchronizerId };
    return { _tag: 'ContractsChanged', offset, updateId, ...on, recordTime, update, added, removed, moved };
  }

  #traceOf(contractId: string): Trace<C> {
    const trace = this.#traces.get(contractId);
    if (trace !== undefined) return trace;
    const contract = this.#contracts.get(contractId);
    return { active: contract ? [contract] : [], halves: [] };
  }

  #set(contractId: string, trace: Trace<C>): C | undefined {
    const contract = lastOf(trace);
    if (contract === undefined) this.#contracts.delete(contractId);
    else this.#contracts.set(contractId, contract);
    if (isComplete(trace)) this.#traces.delete(contractId);
    else this.#traces.set(contractId, trace);
    return contract;
  }

  #editOfEntry(entry: ContractEntry): Edit<C> | undefined {
    switch (entry._tag) {
      case 'ActiveContract':
        return this.#activation(entry.createdEvent, entry.synchronizerId, entry.reassignmentCounter);
      case 'IncompleteUnassigned': {
        const { contractId, source, target, reassignmentCounter: counter } = entry.unassignedEvent;
        const inFlight = this.#make(entry.createdEvent, { inFlight: { source, target } }, counter);
        return (
          inFlight && { contractId, run: (trace) => pair(trace, { isAssigned: false, counter, target, inFlight }) }
        );
      }
      case 'IncompleteAssigned': {
        const { createdEvent, target, reassignmentCounter: counter } = entry.assignedEvent;
        const { contractId } = createdEvent;
        const contract = this.#make(createdEvent, this.#at(target), counter);
        return contract && { contractId, run: (trace) => pair(trace, { isAssigned: true, counter, target }) };
      }
      default:
        return undefined;
    }
  }

  #editOf(event: Event | ReassignmentEvent, update: Transaction | Reassignment): Edit<C> | undefined {
    const { synchronizerId = '' } = update;
    switch (event._tag) {
      case 'CreatedEvent':
        return isWitnessed(event) ? undefined : this.#activation(event, synchronizerId, 0);
      case 'ArchivedEvent':
        return archival(event, synchronizerId);
      case 'ExercisedEvent':
        return isWitnessed(event) || !event.consuming ? undefined : archival(event, synchronizerId);
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
      return source === target ? active : pair(active, { isAssigned: true, counter, target });
    };
    return { contractId: created.contractId, run };
  }

  #unassign(trace: Trace<C>, event: UnassignedEvent): Trace<C> {
    const { source, target, reassignmentCounter: counter } = event;
    const left = leave(trace, source);
    if (source === target) return left;
    const last = activeOn(trace, source);
    const inFlight = last && this.#make(last.createdEvent, { inFlight: { source, target } }, counter);
    return pair(left, { isAssigned: false, counter, target, inFlight });
  }

  #at(synchronizerId: string): ContractLocation {
    const location = this.#locations.get(synchronizerId) ?? { synchronizerId };
    this.#locations.set(synchronizerId, location);
    return location;
  }
}

/** The effect of an event or an entry on a contract. */
interface Edit<C extends AnyContract> {
  readonly contractId: string;
  readonly run: (trace: Trace<C>) => Trace<C>;
}

const isExercise = ({ _tag }: Event | ReassignmentEvent): boolean => _tag === 'ExercisedEvent';

/** Whether none of the parties is a stakeholder of the contract, or its transaction both creates and archives it. */
const isWitnessed = ({ acsDelta }: CreatedEvent | ExercisedEvent): boolean => acsDelta === false;

const archival = <C extends AnyContract>(
  { contractId }: ArchivedEvent | ExercisedEvent,
  synchronizerId: string,
): Edit<C> => ({ contractId, run: (trace) => archive(trace, synchronizerId) });
