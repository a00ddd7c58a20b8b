import { type Contract, Contracts } from '../ledger/Contracts.js';
import type { Ledger } from '../ledger/Ledger.js';
import type { Participant } from '../participant/Participant.js';
import type { WireCreatedEvent } from '../wire/WireEvent.js';

/** A generated contract between its unassignment and its assignment. */
export interface InFlight {
  readonly created: WireCreatedEvent;
  readonly source: string;
  readonly target: string;
  readonly reassignmentId: string;
  readonly reassignmentCounter: number;
  /** The offset of the unassignment. */
  readonly unassignedAt: number;
}

/** The context in which an update is generated. */
export interface TrafficContext {
  readonly seed: number;
  readonly random: Random;
  readonly participant: Participant;
  readonly state: TrafficState;
  /** The offset of the generated update. */
  readonly offset: number;
}

/** The generated contracts, which are the only ones that generated traffic archives and reassigns. */
export class TrafficState {
  readonly #contracts = new Contracts();
  #inFlight: readonly InFlight[] = [];

  get inFlight(): readonly InFlight[] {
    return this.#inFlight;
  }

  addContract(contract: Contract): void {
    this.#contracts.add(contract);
  }

  removeContract(contractId: string): void {
    this.#contracts.remove(contractId);
  }

  unassign(move: InFlight): void {
    this.#contracts.remove(move.created.contractId);
    this.#inFlight = [...this.#inFlight, move];
  }

  assign(move: InFlight): void {
    this.#inFlight = this.#inFlight.filter((other) => other !== move);
  }

  /** Picks an active contract. Some may be inactive meanwhile, by an appended update, a submission or a restore. */
  pickContract(random: Random, ledger: Ledger): Contract | undefined {
    while (this.#contracts.size > 0) {
      const picked = this.#contracts.at(random.below(this.#contracts.size));
      const { contractId = '' } = picked?.created ?? {};
      const active = ledger.contracts.get(contractId);
      if (active !== undefined) return active;
      this.#contracts.remove(contractId);
    }
    return undefined;
  }

  restore(ledgerEnd: number): void {
    this.#inFlight = this.#inFlight.filter(({ unassignedAt: since }) => since <= ledgerEnd);
  }
}

/** A seeded random number generator (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** A number in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer in [0, `bound`). */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<A>(first: A, ...others: readonly A[]): A {
    return others[this.below(others.length + 1) - 1] ?? first;
  }
}
