import { defer, filter, map, type OperatorFunction } from 'rxjs';
import type { AnyContract } from './Contract.js';
import type { ContractsBatch } from './ContractChange.js';
import type { ContractSet } from './ContractSet.js';
import { resetOf } from './LiveState.js';

/**
 * Emits the matching contracts, at first and whenever they have changed. It is always the same mutable object: read it
 * immediately.
 */
export const selectContracts =
  <C extends AnyContract, S extends C>(
    isMatch: (contract: C) => contract is S,
    compare?: (a: S, b: S) => number,
  ): OperatorFunction<ContractsBatch<C>, MutableSelection<C, S>> =>
  (known$) =>
    defer(() => {
      const selection = new MutableSelection(isMatch, compare);
      return known$.pipe(
        filter((known, index) =>
          index === 0 || resetOf(known) !== undefined ? selection.load(known.contracts) : selection.apply(known.items),
        ),
        map(() => selection),
      );
    });

/**
 * The number of changes in a step up to which each is inserted at its place. For more changes, sorting again is faster.
 */
const maxPlaced = 1_000;

/** Contracts that match a predicate. The cost of a change does not depend on their number. */
class MutableSelection<C extends AnyContract, S extends C> {
  readonly #byId = new Map<string, S>();
  /** `undefined` if the order is not known. */
  #sorted: S[] | undefined;

  constructor(
    private readonly isMatch: (contract: C) => contract is S,
    private readonly compare: ((a: S, b: S) => number) | undefined,
  ) {}

  get size(): number {
    return this.#byId.size;
  }

  /** Returns the contracts in order, as a new array. */
  toArray(): readonly S[] {
    if (this.compare === undefined) return [...this.#byId.values()];
    this.#sorted ??= [...this.#byId.values()].sort(this.compare);
    return [...this.#sorted];
  }

  /** Starts over with all contracts. That counts as a change. */
  load(contracts: ContractSet<C>): boolean {
    this.#byId.clear();
    for (const contract of contracts) if (this.isMatch(contract)) this.#byId.set(contract.contractId, contract);
    this.#sorted = undefined;
    return true;
  }

  /** Applies changes. Returns whether one of them concerns a matching contract. */
  apply(changes: ContractsBatch<C>['items']): boolean {
    let isChanged = false;
    let count = 0;
    for (const change of changes) {
      if (change._tag !== 'ContractsChanged') continue;
      const { added, removed, moved } = change;
      count += added.length + removed.length + moved.length;
      if (count > maxPlaced) this.#sorted = undefined;
      for (const { contractId } of removed) isChanged = this.#replace(contractId, undefined) || isChanged;
      for (const contract of [...added, ...moved.map((move) => move.contract)]) {
        const match = this.isMatch(contract) ? contract : undefined;
        isChanged = this.#replace(contract.contractId, match) || isChanged;
      }
    }
    return isChanged;
  }

  #replace(contractId: string, contract: S | undefined): boolean {
    const before = this.#byId.get(contractId);
    if (before !== undefined) this.#unsort(before);
    if (contract === undefined) return this.#byId.delete(contractId);
    this.#byId.set(contractId, contract);
    this.#sort(contract);
    return true;
  }

  #sort(contract: S): void {
    const { compare } = this;
    const sorted = this.#sorted;
    if (compare === undefined || sorted === undefined) return;
    const index = countWhile(sorted, (other) => compare(other, contract) <= 0);
    sorted.splice(index, 0, contract);
  }

  #unsort(contract: S): void {
    const { compare } = this;
    const sorted = this.#sorted;
    if (compare === undefined || sorted === undefined) return;
    const first = countWhile(sorted, (other) => compare(other, contract) < 0);
    const index = sorted.indexOf(contract, first);
    // an inconsistent order, such as one that never returns 0, does not find it
    sorted.splice(index < 0 ? sorted.indexOf(contract) : index, 1);
  }
}

/** Returns the number of leading elements for which a condition holds, by binary search. */
function countWhile<A>(sorted: readonly A[], condition: (element: A) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (condition(sorted[middle] as A)) low = middle + 1;
    else high = middle;
  }
  return low;
}
