import { updateValue } from '../../../src/sandbox/wire/WireUpdate.js';
import type { WireCreatedEvent, WireEvent, WireReassignmentEvent, WireUpdate } from '../../../src/sandbox/index.js';
import type { ContractState } from './children/rows.js';

/**
 * The contracts of a ledger at each of its offsets, from what the sandbox has committed, without the library. As a snapshot of
 * a participant has them: active on some synchronizers, or half reassigned; what was reassigned last counts.
 */
export class LedgerStates {
  readonly #updates: readonly WireUpdate[];
  #next = 0;
  #offset = 0;
  #contracts = new Map<string, ContractState>();
  #traces = new Map<string, Trace>();

  constructor(updates: readonly WireUpdate[]) {
    this.#updates = updates;
  }

  /** The contracts at an offset, by id. They are mutated by the next call, and cost little if offsets ascend. */
  at(offset: number): ReadonlyMap<string, ContractState> {
    if (offset < this.#offset) {
      this.#next = 0;
      this.#contracts = new Map();
      this.#traces = new Map();
    }
    this.#offset = offset;
    for (let update = this.#updates[this.#next]; update !== undefined; update = this.#updates[this.#next]) {
      if (updateValue(update).offset > offset) break;
      this.#apply(update);
      this.#next += 1;
    }
    return this.#contracts;
  }

  #apply(update: WireUpdate): void {
    const { synchronizerId, events } = updateValue(update);
    const changed = new Set<string>();
    const trace = (contractId: string): Trace => {
      changed.add(contractId);
      const known = this.#traces.get(contractId) ?? { active: new Map(), left: new Map(), arrived: new Set() };
      this.#traces.set(contractId, known);
      return known;
    };
    for (const event of events) {
      if ('CreatedEvent' in event || 'ArchivedEvent' in event) applyEvent(event, synchronizerId, trace);
      else if ('JsAssignmentEvent' in event || 'JsUnassignedEvent' in event) applyReassignment(event, trace);
    }
    for (const contractId of changed) {
      const state = stateOf(trace(contractId));
      if (state === undefined) this.#contracts.delete(contractId);
      else this.#contracts.set(contractId, state);
    }
  }
}

/** What the participant knows of a contract. */
interface Trace {
  /** By the synchronizer on which it is active. */
  readonly active: Map<string, ContractState>;
  /** Unassignments without an assignment, by their counter. */
  readonly left: Map<number, ContractState | undefined>;
  /** The counters of assignments without an unassignment. */
  readonly arrived: Set<number>;
}
type TraceOf = (contractId: string) => Trace;

function applyEvent(event: WireEvent, synchronizerId: string, trace: TraceOf): void {
  if ('CreatedEvent' in event) {
    const { CreatedEvent: created } = event;
    if (created.acsDelta) trace(created.contractId).active.set(synchronizerId, activeState(created, synchronizerId, 0));
  } else if ('ArchivedEvent' in event) trace(event.ArchivedEvent.contractId).active.delete(synchronizerId);
}

function applyReassignment(event: WireReassignmentEvent, trace: TraceOf): void {
  if ('JsAssignmentEvent' in event) {
    const { createdEvent, target, reassignmentCounter: counter } = event.JsAssignmentEvent;
    const { active, left, arrived } = trace(createdEvent.contractId);
    active.set(target, activeState(createdEvent, target, counter));
    if (!left.delete(counter)) arrived.add(counter);
    return;
  }
  const { contractId, source, target, reassignmentCounter } = event.JsUnassignedEvent.value;
  const { active, left, arrived } = trace(contractId);
  const before = active.get(source);
  active.delete(source);
  if (arrived.delete(reassignmentCounter)) return;
  left.set(reassignmentCounter, before && { ...before, inFlightTo: target, reassignmentCounter });
}

const activeState = (
  { contractId, createArgument: payload }: WireCreatedEvent,
  synchronizerId: string,
  reassignmentCounter: number,
): ContractState => ({ contractId, synchronizerId, inFlightTo: null, reassignmentCounter, payload });

/** The state with the highest counter. One that only says that the others are old is no contract. */
function stateOf({ active, left, arrived }: Trace): ContractState | undefined {
  const states = [...active.values(), ...left.values()].filter((state) => state !== undefined);
  const last = states.reduce<ContractState | undefined>(
    (best, state) => (best === undefined || state.reassignmentCounter > best.reassignmentCounter ? state : best),
    undefined,
  );
  const newest = Math.max(-1, ...arrived);
  return last === undefined || newest > last.reassignmentCounter ? undefined : last;
}
