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
  readonly since: number;
}

/** What generated traffic plays in. */
export interface Scene {
  readonly seed: number;
  readonly random: Random;
  readonly participant: Participant;
  readonly state: TrafficState;
  /** The offset of the update to make. */
  readonly offset: number;
}

/** The contracts that generated traffic may end or move: its own, and none of anybody else. */
export class TrafficState {
  readonly #own = new Contracts();
  #inFlight: readonly InFlight[] = [];

  get inFlight(): readonly InFlight[] {
    return this.#inFlight;
  }

  own(contract: Contract): void {
    this.#own.add(contract);
  }

  disown(contractId: string): void {
    this.#own.remove(contractId);
  }

  depart(move: InFlight): void {
    this.#own.remove(move.created.contractId);
    this.#inFlight = [...this.#inFlight, move];
  }

  arrive(move: InFlight): void {
    this.#inFlight = this.#inFlight.filter((other) => other !== move);
  }

  /** One of the contracts that are still active; somebody else may have ended some, or a backup undone them. */
  pick(random: Random, ledger: Ledger): Contract | undefined {
    while (this.#own.size > 0) {
      const picked = this.#own.at(random.below(this.#own.size));
      const { contractId = '' } = picked?.created ?? {};
      const live = ledger.contracts.get(contractId);
      if (live !== undefined) return live;
      this.#own.remove(contractId);
    }
    return undefined;
  }

  restore(ledgerEnd: number): void {
    this.#inFlight = this.#inFlight.filter(({ since }) => since <= ledgerEnd);
  }
}

/** A small seeded generator of numbers (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** A number from 0 up to, not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number below `bound`. */
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
