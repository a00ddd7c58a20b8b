import type { AnyContract } from './Contract.js';

/**
 * The contracts of a live view, as a handle that costs nothing to make: it is not a copy. It shows the contracts that are
 * current when it is read, so that one from an earlier value may show later contracts. `toArray()` gives a value that stays.
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
  /** The contract with an id; `undefined` if it is not there. */
  get(contractId: string): C | undefined;
  /** Whether the contract is there. */
  has(contractId: string): boolean;
  /** All contracts, in the order in which they became known. The array is made at the first call, and is the same later. */
  toArray(): readonly C[];
}

/** A handle on contracts by id, which may change. */
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
