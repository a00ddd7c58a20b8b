import type { Contract } from '../ledger/ContractHistory.js';
import type { Ledger } from '../ledger/Ledger.js';
import type { Random } from '../Random.js';
import type { WireCreatedEvent } from '../wire/WireUpdate.js';

/** The move of a contract from one synchronizer to another. Each synchronizer has its own half of it. */
export interface Move {
  readonly created: WireCreatedEvent;
  readonly source: string;
  readonly target: string;
  readonly reassignmentId: string;
  /** The number of moves of the contract, including this one. */
  readonly reassignmentCounter: number;
  /** Whether the creation of the contract on the source is also late. */
  readonly isNew?: boolean;
}

/** The generated contracts, which are the only ones that generated traffic archives and reassigns. */
export class TrafficState {
  readonly #ids = new Set<string>();
  readonly #active = new ContractIds();
  #inFlight: readonly Move[] = [];
  #late: readonly Move[] = [];

  /** The moves whose assignments are pending, in the order of their unassignments. */
  get inFlight(): readonly Move[] {
    return this.#inFlight;
  }

  /** The moves whose unassignments are pending because their sources lag, in the order of their assignments. */
  get late(): readonly Move[] {
    return this.#late;
  }

  /** A copy, for a ledger that goes its own way. */
  copy(): TrafficState {
    const copy = new TrafficState();
    for (const contractId of this.#ids) copy.addContract(contractId);
    return copy;
  }

  addContract(contractId: string): void {
    this.#ids.add(contractId);
    this.#active.add(contractId);
  }

  removeContract(contractId: string): void {
    this.#active.remove(contractId);
  }

  /** Records that a contract leaves its source and is in flight. */
  unassign(move: Move): void {
    this.#active.remove(move.created.contractId);
    this.#inFlight = [...this.#inFlight, move];
  }

  /** Records that a contract is on its target before it leaves its source. */
  overtake(move: Move): void {
    this.#late = [...this.#late, move];
  }

  /** Records the late creation of the contract of a move. */
  create(move: Move): void {
    this.#late = this.#late.map((other) => (other === move ? { ...move, isNew: false } : other));
  }

  /** Drops the late creations: the contracts were created before the participant hosted any of their parties. */
  forgetCreations(): void {
    this.#late = this.#late.filter(({ isNew }) => isNew !== true);
  }

  /** Records the second half of a move. */
  complete(move: Move): void {
    this.#inFlight = this.#inFlight.filter((other) => other !== move);
    this.#late = this.#late.filter((other) => other !== move);
  }

  /**
   * Picks an active contract. Prefers contracts whose unassignment is late, so that a choice on the target overtakes
   * it. An appended update, a submission or a restore may have deactivated some contracts in the meantime.
   */
  pickContract(random: Random, ledger: Ledger): Contract | undefined {
    const late = random.chance(0.2) ? this.#late[random.below(this.#late.length)] : undefined;
    const overtaking = late && ledger.contracts.get(late.created.contractId);
    if (overtaking !== undefined) return overtaking;
    while (this.#active.size > 0) {
      const contractId = this.#active.at(random.below(this.#active.size));
      const active = ledger.contracts.get(contractId);
      if (active !== undefined) return active;
      this.#active.remove(contractId);
    }
    return undefined;
  }

  /** Continues from a restored ledger, without late creations. */
  restore({ contracts }: Ledger): void {
    const { activations, reassignments } = contracts;
    this.#active.clear();
    for (const { created, endedAt } of activations) {
      if (endedAt === Infinity && this.#ids.has(created.contractId)) this.#active.add(created.contractId);
    }
    const incomplete = reassignments.filter(({ endedAt }) => endedAt === Infinity);
    this.#inFlight = incomplete
      .flatMap(({ half }) =>
        'unassigned' in half && half.activation ? { ...half.unassigned, created: half.activation.created } : [],
      )
      .filter(({ contractId }) => this.#ids.has(contractId));
    this.#late = incomplete
      .flatMap(({ half }) => ('assigned' in half ? { ...half.assigned, created: half.assigned.createdEvent } : []))
      .filter(({ created: { contractId }, source, reassignmentCounter }) => {
        // a contract that has come back to the source does not leave it by an earlier reassignment
        const isOnSource = contracts
          .stateOf(contractId)
          ?.active.some(
            (active) => active.synchronizerId === source && active.reassignmentCounter < reassignmentCounter,
          );
        return isOnSource === true && this.#ids.has(contractId);
      });
  }
}

/** Contract ids, with access by id and by index in constant time. */
class ContractIds {
  #ids: string[] = [];
  readonly #indexes = new Map<string, number>();

  get size(): number {
    return this.#ids.length;
  }

  at(index: number): string {
    return this.#ids[index] ?? '';
  }

  add(contractId: string): void {
    if (!this.#indexes.has(contractId)) this.#indexes.set(contractId, this.#ids.push(contractId) - 1);
  }

  remove(contractId: string): void {
    const index = this.#indexes.get(contractId);
    const last = this.#ids.at(-1);
    if (index === undefined || last === undefined) return;
    // the last id moves to the free index, so that no other index changes
    this.#ids[index] = last;
    this.#indexes.set(last, index);
    this.#ids.pop();
    this.#indexes.delete(contractId);
  }

  clear(): void {
    this.#ids = [];
    this.#indexes.clear();
  }
}
