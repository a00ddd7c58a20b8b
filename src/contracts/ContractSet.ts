import type { AnyContract } from './Contract.js';

/**
 * The contracts of a live view at an offset. It never changes: after a change, the view has another one, which shares
 * the unchanged parts. It is not a plain object. To store or send the contracts, use `toArray()`.
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

/** The contracts of a part of a list; `undefined` for those that were removed. */
type Chunk<C> = readonly (C | undefined)[];

const chunkSize = 256;

/**
 * A list of contracts by ID that can be changed, and whose snapshots cannot. A change copies only what a snapshot shares:
 * the chunk with the contract, and the list of chunks.
 */
export class ContractList<C extends AnyContract> {
  #size = 0;
  /** The place of each contract in the chunks. Removed contracts keep theirs, which earlier snapshots need. */
  #places = new Map<string, number>();
  #chunks: (C | undefined)[][] = [];
  /** The chunks that no snapshot shares. */
  readonly #own = new Set<Chunk<C>>();
  /** The snapshot since the last change. */
  #snapshot: ContractSet<C> | undefined;

  get snapshot(): ContractSet<C> {
    return (this.#snapshot ??= setOf(this.#size, this.#places, this.#chunks));
  }

  get(contractId: string): C | undefined {
    return contractAt(this.#chunks, this.#places.get(contractId));
  }

  /** Adds or replaces a contract, or removes it if it is `undefined`. */
  set(contractId: string, contract: C | undefined): void {
    const before = this.get(contractId);
    if (before === contract) return;
    const removed = this.#places.size - this.#size;
    if (removed > this.#size + chunkSize) this.#dropRemoved();
    const place = this.#places.get(contractId) ?? this.#places.size;
    this.#places.set(contractId, place);
    this.#size += Number(contract !== undefined) - Number(before !== undefined);
    this.#chunkOf(place)[place % chunkSize] = contract;
  }

  /** Returns the chunk of a place, to change it. */
  #chunkOf(place: number): (C | undefined)[] {
    if (this.#snapshot !== undefined) {
      this.#snapshot = undefined;
      this.#chunks = [...this.#chunks];
      this.#own.clear();
    }
    const index = Math.floor(place / chunkSize);
    const chunk = this.#chunks[index] ?? [];
    if (this.#own.has(chunk)) return chunk;
    const own = [...chunk];
    this.#own.add(own);
    this.#chunks[index] = own;
    return own;
  }

  #dropRemoved(): void {
    const contracts = this.snapshot.toArray();
    this.#size = 0;
    this.#places = new Map();
    this.#chunks = [];
    for (const contract of contracts) this.set(contract.contractId, contract);
  }
}

function setOf<C extends AnyContract>(
  size: number,
  places: ReadonlyMap<string, number>,
  chunks: readonly Chunk<C>[],
): ContractSet<C> {
  let array: readonly C[] | undefined;
  const get = (contractId: string): C | undefined => contractAt(chunks, places.get(contractId));
  const toArray = (): readonly C[] =>
    (array ??= chunks.flatMap((chunk) => chunk.filter((contract) => contract !== undefined)));
  const has = (contractId: string): boolean => get(contractId) !== undefined;
  return { size, get, has, toArray, [Symbol.iterator]: () => toArray().values() };
}

const contractAt = <C>(chunks: readonly Chunk<C>[], place = Infinity): C | undefined =>
  chunks[Math.floor(place / chunkSize)]?.[place % chunkSize];
