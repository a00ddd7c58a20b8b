import { sha256 } from '../wire/values.js';
import type {
  WireAssignedEvent,
  WireCreatedEvent,
  WireReassignment,
  WireReassignmentEventInput,
  WireUnassignedEvent,
  WireUpdate,
} from '../wire/WireUpdate.js';

/** An active contract and its synchronizer. */
export interface Contract {
  readonly created: WireCreatedEvent;
  readonly synchronizerId: string;
  readonly reassignmentCounter: number;
}

/** The activation of a contract on a synchronizer, by a creation or an assignment. */
export interface Activation extends Contract {
  readonly offset: number;
  readonly workflowId: string;
  /** The offset of the archive or unassignment on the same synchronizer; infinite while active. */
  endedAt: number;
}

/** A reassignment of a contract. Each synchronizer has one half of it, and the halves arrive in any order. */
export interface Reassignment {
  /** The half that arrived first. */
  readonly half: ReassignmentHalf;
  readonly reassignmentCounter: number;
  /** The offset of that half. */
  readonly offset: number;
  readonly workflowId: string;
  /** The offset of the other half; infinite while incomplete. */
  endedAt: number;
}

type ReassignmentHalf =
  | { readonly assigned: WireAssignedEvent }
  /** With the activation on the source, if that was known. */
  | { readonly unassigned: WireUnassignedEvent; readonly activation: Activation | undefined };

/** The state of a contract that is active somewhere or has an incomplete reassignment. */
interface ContractState {
  /** The contract, as of its last activation. */
  readonly created: WireCreatedEvent | undefined;
  /** The highest reassignment counter. */
  readonly counter: number;
  /** If the contract has no location after that many reassignments, it is in flight or archived. */
  readonly phase: 'active' | 'inFlight' | 'archived';
  /**
   * At most one per synchronizer. Synchronizers are not in step, so there may be several, even for an archived
   * contract.
   */
  readonly active: readonly Activation[];
  readonly incomplete: readonly Reassignment[];
}

/** Where contracts have been active, on each synchronizer, so that the active contracts of any offset can be read. */
export class ContractHistory {
  /** In the order of the ledger. */
  readonly activations: Activation[] = [];
  /** In the order of the halves that arrived first. */
  readonly reassignments: Reassignment[] = [];
  readonly #states = new Map<string, ContractState>();

  /** Returns the contract with its current synchronizer; `undefined` if it is archived, in flight or unknown. */
  get(contractId: string): Contract | undefined {
    const state = this.#states.get(contractId);
    if (state?.phase !== 'active') return undefined;
    return state.active.find(({ reassignmentCounter }) => reassignmentCounter === state.counter);
  }

  /** Returns a contract that is in flight, with the synchronizer that it leaves. */
  inFlight(contractId: string): Contract | undefined {
    const { phase, created, counter, incomplete } = this.#states.get(contractId) ?? unknownState;
    const left = incomplete.find(
      ({ half, reassignmentCounter }) => 'unassigned' in half && reassignmentCounter === counter,
    );
    if (phase !== 'inFlight' || created === undefined || left === undefined || !('unassigned' in left.half))
      return undefined;
    return { created, synchronizerId: left.half.unassigned.source, reassignmentCounter: counter };
  }

  /** The active contracts with a key, by its hash: the newest one first. Several may have the same key. */
  *withKey(keyHash: string): Generator<Contract, void> {
    for (let index = this.activations.length - 1; index >= 0; index--) {
      const { created } = this.activations[index] ?? {};
      const contract = created?.contractKeyHash === keyHash ? this.get(created.contractId) : undefined;
      if (contract !== undefined) yield contract;
    }
  }

  stateOf(contractId: string): ContractState | undefined {
    return this.#states.get(contractId);
  }

  /**
   * Completes the route of an appended reassignment: from its other half if that arrived earlier, else from the
   * contract.
   */
  completeRoute(input: WireReassignmentEventInput, synchronizers: readonly string[]): Route {
    const isAssignment = 'JsAssignmentEvent' in input;
    const given: Partial<Route> = isAssignment ? input.JsAssignmentEvent : input.JsUnassignedEvent.value;
    const { contractId = '' } = contractFields(input);
    const state = this.#states.get(contractId);
    const half = state?.incomplete.find(
      (begun) =>
        (isAssignment ? 'unassigned' : 'assigned') in begun.half &&
        (given.reassignmentCounter ?? begun.reassignmentCounter) === begun.reassignmentCounter,
    )?.half;
    const begun: Partial<Route> = half && 'assigned' in half ? half.assigned : (half?.unassigned ?? {});
    const source = given.source ?? begun.source ?? this.get(contractId)?.synchronizerId ?? synchronizers[0] ?? '';
    const reassignmentCounter = given.reassignmentCounter ?? begun.reassignmentCounter ?? (state?.counter ?? 0) + 1;
    return {
      source,
      target: given.target ?? begun.target ?? synchronizers.find((synchronizer) => synchronizer !== source) ?? source,
      reassignmentId:
        given.reassignmentId ?? begun.reassignmentId ?? `00${sha256('reassignment', contractId, reassignmentCounter)}`,
      reassignmentCounter,
    };
  }

  add(update: WireUpdate): void {
    if ('Reassignment' in update) this.addReassignment(update.Reassignment.value);
    if (!('Transaction' in update)) return;
    const { events, synchronizerId, offset, workflowId } = update.Transaction.value;
    for (const event of events) {
      if ('ArchivedEvent' in event) this.archive(event.ArchivedEvent.contractId, synchronizerId, offset);
      if ('CreatedEvent' in event && event.CreatedEvent.acsDelta) {
        const created = event.CreatedEvent;
        this.activate({ created, synchronizerId, reassignmentCounter: 0, offset, workflowId, endedAt: Infinity });
      }
    }
  }

  clear(): void {
    this.activations.length = 0;
    this.reassignments.length = 0;
    this.#states.clear();
  }

  private addReassignment({ events, offset, workflowId }: WireReassignment): void {
    for (const event of events) {
      if ('JsUnassignedEvent' in event) this.unassign(event.JsUnassignedEvent.value, offset, workflowId);
      else this.assign(event.JsAssignmentEvent, offset, workflowId);
    }
  }

  private activate(activation: Activation): void {
    const { created, synchronizerId, reassignmentCounter: counter, offset } = activation;
    const { contractId } = created;
    this.deactivate(contractId, synchronizerId, offset);
    this.activations.push(activation);
    const state = this.#states.get(contractId) ?? unknownState;
    const active = [...state.active, activation];
    // an archive is on the last synchronizer, so activations with the same or a lower counter are old
    const isNews = counter > state.counter || (counter === state.counter && state.phase !== 'archived');
    this.keep(contractId, isNews ? { ...state, created, counter, phase: 'active', active } : { ...state, active });
  }

  /** Ends the activation on a synchronizer, and returns it. */
  private deactivate(contractId: string, synchronizerId: string, offset: number): Activation | undefined {
    const state = this.#states.get(contractId);
    const ended = state?.active.find((activation) => activation.synchronizerId === synchronizerId);
    if (state === undefined || ended === undefined) return undefined;
    ended.endedAt = offset;
    const active = state.active.length === 1 ? [] : state.active.filter((activation) => activation !== ended);
    this.#states.set(contractId, { ...state, active });
    return ended;
  }

  private archive(contractId: string, synchronizerId: string, offset: number): void {
    this.deactivate(contractId, synchronizerId, offset);
    const state = this.#states.get(contractId);
    if (state !== undefined) this.keep(contractId, { ...state, phase: 'archived' });
  }

  private unassign(event: WireUnassignedEvent, offset: number, workflowId: string): void {
    const { contractId, source, target, reassignmentCounter: counter } = event;
    const activation = this.deactivate(contractId, source, offset);
    const state = this.#states.get(contractId) ?? unknownState;
    if (source === target) {
      // the party leaves the synchronizer, and the contract stays there
      this.keep(contractId, state.active.length === 0 ? { ...state, phase: 'archived' } : state);
      return;
    }
    const incomplete = this.pair(state, { unassigned: event, activation }, { counter, offset, workflowId });
    const isNews = counter > state.counter;
    const phase = isNews ? 'inFlight' : state.phase;
    this.keep(contractId, { ...state, incomplete, phase, counter: Math.max(counter, state.counter) });
  }

  private assign(event: WireAssignedEvent, offset: number, workflowId: string): void {
    const { source, target, createdEvent: created, reassignmentCounter: counter } = event;
    const { contractId } = created;
    // party replication adds contracts to their current synchronizer, so there is no other half
    if (source !== target) {
      const state = this.#states.get(contractId) ?? unknownState;
      const incomplete = this.pair(state, { assigned: event }, { counter, offset, workflowId });
      this.#states.set(contractId, { ...state, incomplete });
    }
    const activation = { created, synchronizerId: target, reassignmentCounter: counter, offset, workflowId };
    this.activate({ ...activation, endedAt: Infinity });
  }

  /**
   * Completes the reassignment whose other half arrived earlier, or begins one. Returns the incomplete reassignments.
   */
  private pair(
    { incomplete }: ContractState,
    half: ReassignmentHalf,
    { counter: reassignmentCounter, offset, workflowId }: HalfFields,
  ): readonly Reassignment[] {
    const other = 'assigned' in half ? 'unassigned' : 'assigned';
    const begun = incomplete.find((known) => known.reassignmentCounter === reassignmentCounter && other in known.half);
    if (begun !== undefined) {
      begun.endedAt = offset;
      return incomplete.filter((known) => known !== begun);
    }
    const reassignment = { half, reassignmentCounter, offset, workflowId, endedAt: Infinity };
    this.reassignments.push(reassignment);
    return [...incomplete, reassignment];
  }

  /** Keeps the state of a contract as long as lagging synchronizers may still report events of it. */
  private keep(contractId: string, state: ContractState): void {
    if (state.active.length > 0 || state.incomplete.length > 0) this.#states.set(contractId, state);
    else this.#states.delete(contractId);
  }
}

const unknownState: ContractState = { created: undefined, counter: -1, phase: 'inFlight', active: [], incomplete: [] };

/** The fields that both halves of a reassignment have. */
type Route = Pick<WireUnassignedEvent, 'source' | 'target' | 'reassignmentId' | 'reassignmentCounter'>;

/** The fields of the contract that are given in an event. */
export function contractFields(input: WireReassignmentEventInput): Partial<WireCreatedEvent> {
  return 'JsAssignmentEvent' in input ? (input.JsAssignmentEvent.createdEvent ?? {}) : input.JsUnassignedEvent.value;
}

interface HalfFields {
  readonly counter: number;
  readonly offset: number;
  readonly workflowId: string;
}
