import type { ContractEntry } from '../codecs/ContractEntry.js';
import type { CreatedEvent } from '../codecs/Event.js';
import type { Reassignment } from '../codecs/Reassignment.js';
import type { Int64 } from '../codecs/scalars.js';
import type { Transaction } from '../codecs/Transaction.js';
import type { AnyContract, ContractLocation } from './Contract.js';
import type { ContractsChanged } from './ContractChange.js';

/** Makes the contract of an event; `undefined` if it is not of the query. */
export type MakeContract<C extends AnyContract> = (
  created: CreatedEvent,
  location: ContractLocation,
  reassignmentCounter: Int64,
) => C | undefined;

/** The contracts of a query, from a snapshot and the updates after it. Mutable: each update costs only what it changes. */
export class ContractsFold<C extends AnyContract> {
  constructor(private readonly makeContract: MakeContract<C>) {}

  /** The contracts by id, as of the last update. */
  get contracts(): ReadonlyMap<string, C> {
    throw new Error(`not built ${String(this.makeContract)}`);
  }

  /** Adds entries of the snapshot. */
  load(entries: readonly ContractEntry[]): void {
    throw new Error(`not built ${entries.length}`);
  }

  /** The snapshot is complete. */
  settle(): void {
    throw new Error('not built');
  }

  /** Applies an update. `undefined` if it changes no contract. */
  apply(update: Transaction | Reassignment): ContractsChanged<C> | undefined {
    throw new Error(`not built ${update.offset}`);
  }
}
