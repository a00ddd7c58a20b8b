/**
 * The contracts of a live view as a collection of TanStack DB: its live queries filter, join and sort them, and stay up to date.
 * Needs `@tanstack/db`, which comes with `@tanstack/react-db` and its like, in addition to `canton-rx`. Runs in browsers and in
 * Node.js.
 *
 * @example
 * ```ts
 * import { createCollection } from '@tanstack/db';
 * import { createLedger } from 'canton-rx';
 * import { liveContracts } from 'canton-rx/contracts';
 * import { contractsCollection } from 'canton-rx/tanstack-db';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const contracts = createCollection(contractsCollection(liveContracts(ledger, { parties: 'any' })));
 * contracts.subscribeChanges(() => console.log(`${contracts.size} contracts`)); // Ctrl-C stops it
 * ```
 *
 * @module canton-rx/tanstack-db
 */

import { tap } from 'rxjs';
import type { AnyContract } from '../contracts/Contract.js';
import type { ContractChange } from '../contracts/ContractChange.js';
import type { LiveContracts } from '../contracts/liveContracts.js';
import { keepsContracts } from '../contracts/LiveState.js';

/**
 * Options of {@link contractsCollection}.
 *
 * @category TanStack
 */
export interface ContractsCollectionOptions<C extends AnyContract = AnyContract, S extends C = C> {
  /**
   * The name of the collection, in messages and tools.
   *
   * @defaultValue a random one
   */
  readonly id?: string | undefined;
  /**
   * Selects contracts, and must always return the same result for the same contract. It is called again for a contract that was
   * moved. A type guard narrows them, so that queries know their payload. If it throws, the collection ends with that error: a
   * contract that cannot be decoded has no payload.
   *
   * @defaultValue all
   */
  readonly select?: ((contract: C) => contract is S) | ((contract: C) => boolean) | undefined;
  /**
   * The order of the collection, as for `Array.sort`.
   *
   * @defaultValue none: live queries have theirs
   */
  readonly compare?: ((a: S, b: S) => number) | undefined;
}

/**
 * The options of a collection of TanStack DB, for `createCollection`. Spread them to add others, such as `gcTime` or `startSync`.
 *
 * @category TanStack
 */
export interface ContractsCollection<C extends AnyContract = AnyContract> {
  /** The name of the collection. */
  id?: string;
  /** The order of the collection. */
  compare?: (a: C, b: C) => number;
  /** Returns the contract ID. */
  getKey: (contract: C) => string;
  /** How contracts come into the collection. */
  sync: {
    /** Writes the contracts and each change until the function that it returns is called. */
    sync: (collection: CollectionWriter<C>) => () => void;
    /** A contract that was moved is written as a whole. */
    rowUpdateMode: 'full';
  };
}

/**
 * What TanStack DB passes to the source of a collection, as far as it is used.
 *
 * @category TanStack
 */
export interface CollectionWriter<C extends AnyContract = AnyContract> {
  /** Begins a transaction. */
  readonly begin: () => void;
  /** Adds a change to the transaction. */
  readonly write: (
    change: { type: 'insert'; value: C } | { type: 'update'; value: C } | { type: 'delete'; key: string },
  ) => void;
  /** Shows the changes of the transaction, all at once. */
  readonly commit: () => unknown;
  /** Marks the collection as complete. */
  readonly markReady: () => void;
  /** Marks the collection as failed. */
  readonly markError: (error?: unknown) => void;
  /** Removes all contracts, in the transaction. */
  readonly truncate: (options?: { markReady?: boolean }) => void;
}

/**
 * Returns the contracts of a live view as the options of a collection, for `createCollection`. The key is the contract ID.
 *
 * The collection follows the view while it has subscribers, such as live queries, and for its `gcTime` after them, which is five minutes
 * unless you set it. It is ready as soon as all contracts are known. Each update of the ledger is one change, whole. After a `Reset`, such
 * as that of another ledger, it has only the contracts of the reset.
 *
 * An error that ends the view ends the collection with the status `'error'`. Its contracts are then removed, except for a
 * `DecodeError`: the user may not be allowed to see them any more. `collection.cleanup()` lets it begin again. A temporary failure is
 * not an error: the view retries, and `state$` of the view shows them.
 *
 * Contracts change only by submissions, so a collection without handlers refuses `insert`, `update` and `delete`. Create the collection once
 * for each view, and another one for another user.
 *
 * @example
 * ```ts
 * import { createCollection, eq, useLiveQuery } from '@tanstack/react-db';
 * import { contractType, createLedger } from 'canton-rx';
 * import { liveContracts } from 'canton-rx/contracts';
 * import { contractsCollection } from 'canton-rx/tanstack-db';
 * import * as t from 'io-ts';
 *
 * const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string, amount: t.string }));
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const view = liveContracts(ledger, { types: { iou: Iou }, parties: ['alice::1220ab'] });
 * const ious = createCollection(contractsCollection(view, { id: 'ious', select: (iou) => iou.type === 'iou' }));
 *
 * const Total = ({ owner }: { owner: string }) => {
 *   const { data } = useLiveQuery((q) => q.from({ iou: ious }).where(({ iou }) => eq(iou.payload.owner, owner)));
 *   return `${data.length} IOUs`;
 * };
 * ```
 *
 * @category TanStack
 */
export const contractsCollection = <C extends AnyContract, S extends C = C>(
  live: LiveContracts<C>,
  { id, select, compare }: ContractsCollectionOptions<C, S> = {},
): ContractsCollection<S> => ({
  ...(id !== undefined && { id }),
  ...(compare && { compare }),
  getKey: ({ contractId }) => contractId,
  sync: {
    sync: (collection) => {
      const isSelected = (select ?? (() => true)) as (contract: C) => contract is S;
      const shown = new Set<string>();
      const subscription = live.changes$
        .pipe(
          // what throws ends it: without one change, the collection would be another one than the view
          tap((change) => {
            apply(change, { isSelected, shown }, collection);
          }),
        )
        .subscribe({
          error: (error: unknown) => {
            fail(error, collection);
          },
        });
      return () => {
        subscription.unsubscribe();
      };
    },
    rowUpdateMode: 'full',
  },
});

/** The contracts that are selected. */
interface Selected<C extends AnyContract, S extends C> {
  readonly isSelected: (contract: C) => contract is S;
  /** The IDs of those in the collection. */
  readonly shown: Set<string>;
}

function apply<C extends AnyContract, S extends C>(
  change: ContractChange<C>,
  { isSelected, shown }: Selected<C, S>,
  { begin, write, commit, truncate, markReady }: CollectionWriter<S>,
): void {
  const remove = (key: string): void => {
    if (shown.delete(key)) write({ type: 'delete', key });
  };
  const put = (value: S): void => {
    const { contractId } = value;
    write({ type: shown.has(contractId) ? 'update' : 'insert', value });
    shown.add(contractId);
  };
  // before the transaction begins, because it may throw
  const toWrite = (value: C): (() => void) =>
    isSelected(value)
      ? () => {
          put(value);
        }
      : () => {
          // a contract that was moved may decode only now, or not any more
          remove(value.contractId);
        };
  switch (change._tag) {
    case 'Reset': {
      const selected = change.contracts.filter(isSelected);
      begin();
      truncate();
      shown.clear();
      selected.forEach(put);
      commit();
      markReady();
      return;
    }
    case 'ContractsChanged': {
      const writes = [...change.added, ...change.moved.map(({ contract }) => contract)].map(toWrite);
      begin();
      for (const { contractId } of change.removed) remove(contractId);
      for (const writeOne of writes) writeOne();
      commit();
    }
  }
}

function fail(error: unknown, { begin, truncate, commit, markError }: CollectionWriter<never>): void {
  if (!keepsContracts(error)) {
    begin();
    truncate({ markReady: false });
    commit();
  }
  markError(error);
}
