import type { Contract } from '../ledger/Contract.js';
import { Contracts } from '../ledger/Contracts.js';
import type { Ledger } from '../ledger/Ledger.js';
import type { InFlight } from './InFlight.js';
import type { Random } from './Random.js';

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
