import { ApplicationRef, inject, makeStateKey, TransferState } from '@angular/core';
import { asyncScheduler, isObservable, noop } from 'rxjs';
import { CreatedEvent } from '../codecs/Event.js';
import type { Int64, Offset } from '../codecs/scalars.js';
import {
  type AnyContract,
  type ContractLocation,
  type ContractOf,
  type ContractTypes,
  makeContract,
} from '../contracts/Contract.js';
import { eventFormatOf } from '../contracts/ContractQuery.js';
import { bindingOf } from '../ledger/clientOf.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import type { ContractsRequest, KnownContracts, Reading } from './ContractsResource.js';
import { LEDGER } from './provideLedger.js';

/** Contracts in a page, as the participant sends them: the browser decodes them by the types of the query. */
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

/**
 * The maximum number of contracts of a query in a page: they take as much space as their rows, and the browser reads
 * them again.
 */
const maxContracts = 500;

/**
 * The contracts of a page, by query. A query that a browser has read is `undefined`.
 *
 * @internal
 */
export const pageContracts = makeStateKey<Readonly<Record<string, Transferred | undefined>>>('canton-rx');

/**
 * Passes the contracts of a request from the server that rendered a page to the browser that shows it.
 *
 * @internal
 */
export interface TransferredContracts<M extends ContractTypes> {
  /** Adds contracts to the page, unless there are too many. */
  keep(known: KnownContracts<ContractOf<M>>): void;
  /** Returns the contracts in the page as a first reading, if there are any. */
  read(): readonly Reading<ContractOf<M>>[];
  /** Discards the contracts: newer ones are known, or they may no longer be shown. */
  readonly drop: () => void;
}

/**
 * Returns the contracts that are transferred for requests to the application's ledger; those of other ledgers could not
 * be distinguished in a page. Must be called in an injection context. The returned function throws for an invalid
 * query.
 *
 * @internal
 */
export function transferredContracts<M extends ContractTypes>(): (
  request: ContractsRequest<M>,
) => TransferredContracts<M> {
  const state = inject(TransferState);
  const { injector } = inject(ApplicationRef);
  return (request) => {
    if (request.ledger !== injector.get(LEDGER, null)) return { keep: noop, read: () => [], drop: noop };
    const { parties } = request.query;
    // the browser may select other parties by then
    if (isObservable(parties)) return { keep: noop, read: () => [], drop: noop };
    const query = JSON.stringify(eventFormatOf({ ...request.query, parties }));
    const put = (transferred: Transferred | undefined): void => {
      state.set(pageContracts, { ...state.get(pageContracts, {}), [query]: transferred });
    };
    return {
      keep: ({ contracts, offset, staleSince }) => {
        if (contracts.length > maxContracts) return;
        put({ offset, readAt: staleSince ?? asyncScheduler.now(), contracts: contracts.map(encode) });
      },
      read: () => {
        // also those of queries that were not shown yet
        if (hasUserLeft(request.ledger)) state.remove(pageContracts);
        const transferred = state.get(pageContracts, {})[query];
        if (transferred === undefined) return [];
        const contracts = decodeAll(request, transferred);
        if (contracts === undefined) return [];
        const known = { contracts, offset: transferred.offset, staleSince: transferred.readAt };
        return [{ request, isReloading: true, connection: { status: 'connecting' }, known }];
      },
      drop: () => {
        put(undefined);
      },
    };
  };
}

/** Whether a user of the ledger's session has left since the page was loaded: the contracts in the page are of that user. */
const hasUserLeft = (ledger: LedgerReader): boolean =>
  bindingOf(ledger)?.client.scopes.some(
    ({ interceptor }) => 'hasUserLeft' in interceptor && interceptor.hasUserLeft === true,
  ) ?? false;

const encode = ({ createdEvent, location, reassignmentCounter }: AnyContract): Transferred['contracts'][number] => ({
  created: CreatedEvent.encode(createdEvent),
  location,
  counter: reassignmentCounter,
});

/** Returns `undefined` if one of them cannot be decoded, for example because the page is of another release. */
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
