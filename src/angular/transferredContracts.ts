import { ApplicationRef, inject, makeStateKey, type StateKey, TransferState } from '@angular/core';
import { CreatedEvent } from '../codecs/Event.js';
import type { Int64, Offset } from '../codecs/scalars.js';
import type { ContractLocation, ContractOf, ContractTypes } from '../contracts/Contract.js';
import { eventFormatOf } from '../contracts/ContractQuery.js';
import { makeContract } from '../contracts/makeContract.js';
import type { KnownContracts, Reading } from './ContractsResource.js';
import { LEDGER } from './provideLedger.js';
import type { ContractsRequest } from './readContracts.js';

/** Contracts in a page, as the ledger sends them: the browser decodes them by the types of the query. */
interface Transferred {
  readonly offset: Offset;
  /** When they were read, in milliseconds since the epoch. */
  readonly readAt: number;
  readonly contracts: readonly {
    readonly created: unknown;
    readonly location: ContractLocation;
    readonly counter: Int64;
  }[];
}

/** The maximum number of contracts of a query in a page: they are as large as the rows, and the browser reads them again. */
const maxContracts = 500;

/**
 * Passes contracts from the server that rendered a page to the browser that shows it.
 *
 * @internal
 */
export interface TransferredContracts<M extends ContractTypes> {
  /** Puts contracts into the page, unless they are too many. */
  keep(request: ContractsRequest<M>, known: KnownContracts<ContractOf<M>>): void;
  /** The contracts in the page as a first reading, if there are any. */
  read(request: ContractsRequest<M>): readonly Reading<ContractOf<M>>[];
  /** Forgets the contracts: newer ones are known. */
  drop(request: ContractsRequest<M>): void;
}

/**
 * The contracts that are transferred for queries to the application's ledger; others cannot be told apart in a page. Must be
 * called in an injection context.
 *
 * @internal
 */
export function transferredContracts<M extends ContractTypes>(): TransferredContracts<M> {
  const state = inject(TransferState);
  const { injector } = inject(ApplicationRef);
  const keyOf = ({ query, ledger }: ContractsRequest<M>): StateKey<Transferred | null> | undefined =>
    ledger === injector.get(LEDGER, null)
      ? makeStateKey(`canton-rx ${JSON.stringify(eventFormatOf(query))}`)
      : undefined;
  return {
    keep: (request, known) => {
      const key = keyOf(request);
      if (key === undefined || known.contracts.length > maxContracts) return;
      const contracts = known.contracts.map(({ createdEvent, location, reassignmentCounter }) => ({
        created: CreatedEvent.encode(createdEvent),
        location,
        counter: reassignmentCounter,
      }));
      state.set(key, { offset: known.offset, readAt: known.staleSince ?? Date.now(), contracts });
    },
    read: (request) => {
      const key = keyOf(request);
      const transferred = key && state.get(key, null);
      if (transferred === null || transferred === undefined) return [];
      const contracts = decodeAll(request, transferred);
      if (contracts === undefined) return [];
      const { offset, readAt } = transferred;
      const known = { contracts, offset, staleSince: readAt };
      return [{ request, isReloading: true, connection: { status: 'connecting' }, known }];
    },
    drop: (request) => {
      const key = keyOf(request);
      if (key !== undefined) state.remove(key);
    },
  };
}

/** `undefined` if one of them does not decode: the page is of another release, for example. */
function decodeAll<M extends ContractTypes>(
  { query }: ContractsRequest<M>,
  { contracts }: Transferred,
): readonly ContractOf<M>[] | undefined {
  const make = makeContract(query.types);
  const decoded = contracts.map(({ created, location, counter }) => {
    const event = CreatedEvent.decode(created);
    return event._tag === 'Right' ? make(event.right, location, counter) : undefined;
  });
  // the contracts have the types of the query
  return decoded.every((contract) => contract !== undefined) ? (decoded as readonly ContractOf<M>[]) : undefined;
}
