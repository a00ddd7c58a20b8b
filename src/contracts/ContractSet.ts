import type { AnyContract } from './Contract.js';

/**
 * The contracts of a live view. It is a handle, not a copy, so it costs nothing to create. It shows the contracts that
 * are current when it is read, so a handle from an earlier value may show later contracts. `toArray()` returns an array
 * that does not change.
 *
 * @example
 * ```ts
 * import { createLedger } from 'canton-rx';
 * import { liveContracts } from 'canton-rx/contracts';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const watching = liveContracts(ledger, { parties: 'any' }).state$.subscribe((state) => {
 *   if (state.data === 'loading') return;
 *   for (const { contractId, packageName } of state.contracts) console.log(contractId, packageName);
 * });
 * watching.unsubscribe();
 * ```
 *
 * @category Contracts
 */
export interface ContractSet<C extends AnyContract = AnyContract> extends Iterable<C> {
  /** The number of contracts. */
  readonly size: number;
  /** Returns the contract with an ID, or `undefined` if the set does not contain it. */
  get(contractId: string): C | undefined;
  /** Returns whether the set contains the contract. */
  has(contractId: string): boolean;
  /**
   * Returns all contracts, in the order in which they became known. The array is created at the first call; later calls
   * return the same one.
   */
  toArray(): readonly C[];
}

/** Returns a handle on contracts by ID, which may change. */
export function contractSet<C extends AnyContract>(contracts: ReadonlyMap<string, C>): ContractSet<C> {
  let array: readonly C[] | undefined;
  return {
    get size() {
      return contracts.size;
    },
    get: (contractId) => contracts.get(contractId),
    has: (contractId) => contracts.has(contractId),
    toArray: () => (array ??= [...contracts.values()]),
    [Symbol.iterator]: () => contracts.values(),
  };
}
