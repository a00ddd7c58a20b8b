import type { WireCreatedEvent } from '../wire/WireEvent.js';

/** An active contract and its synchronizer. */
export interface Contract {
  readonly created: WireCreatedEvent;
  readonly synchronizerId: string;
  readonly reassignmentCounter: number;
}

/** Active contracts, with access by contract id and by index in constant time. */
export class Contracts {
  readonly #ids: string[] = [];
  readonly #indexes = new Map<string, number>();
  readonly #contracts = new Map<string, Contract>();

  get size(): number {
    return this.#ids.length;
  }

  get(contractId: string): Contract | undefined {
    return this.#contracts.get(contractId);
  }

  at(index: number): Contract | undefined {
    return this.get(this.#ids[index] ?? '');
  }

  add(contract: Contract): void {
    const { contractId } = contract.created;
    if (!this.#indexes.has(contractId)) this.#indexes.set(contractId, this.#ids.push(contractId) - 1);
    this.#contracts.set(contractId, contract);
  }

  remove(contractId: string): void {
    const index = this.#indexes.get(contractId);
    const last = this.#ids.at(-1);
    if (index === undefined || last === undefined) return;
    // the last contract moves to the free index, so that no other index changes
    this.#ids[index] = last;
    this.#indexes.set(last, index);
    this.#ids.pop();
    this.#indexes.delete(contractId);
    this.#contracts.delete(contractId);
  }

  clear(): void {
    this.#ids.length = 0;
    this.#indexes.clear();
    this.#contracts.clear();
  }
}
