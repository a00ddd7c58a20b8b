import { activeContracts, type ActiveContractsRequest } from '../../src/contracts/activeContracts.js';
import type { ContractsOptions } from '../../src/contracts/ContractQuery.js';
import type { ContractEntry } from '../../src/codecs/ContractEntry.js';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import type { Transport } from '../../src/feed/LedgerFeed.js';
import type { HistoryUpdate } from '../helpers/contractHistory.js';
import { observe, type Observed } from '../helpers/observe.js';
import type { ServiceRequest } from '../helpers/scripted.js';
import { marbles } from '../helpers/time.js';
import type { ContractsWorld, VirtualContractsOptions } from '../helpers/virtualContracts.js';
import { contractsWorld, listPath, pagePath } from '../helpers/virtualContracts.js';
import type { WorldOptions } from '../helpers/world.js';
import { create, record, reported } from './joinSupport.js';

/** An update that creates a contract. */
export const creation = (offset: number): HistoryUpdate => create(offset, `c${offset}`);
export const creations = (count: number, after = 0): HistoryUpdate[] =>
  Array.from({ length: count }, (_, i) => creation(after + i + 1));

export const idsOf = (entries: readonly ContractEntry[]): string[] =>
  entries.map((entry) => (entry._tag === 'ActiveContract' ? entry.createdEvent.contractId : entry._tag));
export const ids = (count: number): string[] => creations(count).map(({ offset }) => `c${offset}`);

/** What came of a snapshot. */
export interface Outcome extends ContractsWorld {
  readonly observed: Observed<ContractEntry>;
  readonly diagnostics: Diagnostic[];
  /** The requests for contracts. */
  readonly requests: ServiceRequest[];
}

export interface Scenario extends VirtualContractsOptions, Pick<WorldOptions, 'fault' | 'client'> {
  readonly count?: number;
  /** In place of that many creations. */
  readonly history?: readonly HistoryUpdate[];
  readonly request?: Partial<ActiveContractsRequest>;
  /** Whether there is a WebSocket, which is cut after so many elements. */
  readonly sockets?: readonly number[];
  readonly options?: ContractsOptions;
  readonly given?: (world: ContractsWorld) => void;
}

/** Reads a snapshot in virtual time, of as many contracts as updates. */
export function read({
  count = 3,
  history = creations(count),
  request = {},
  sockets,
  options = {},
  given,
  ...virtual
}: Scenario = {}): Outcome {
  return marbles(({ flush }) => {
    const world = contractsWorld(virtual);
    world.participant.append(...history);
    world.participant.socketCuts.push(...(sockets ?? []));
    given?.(world);
    const diagnostics = record(world.client.diagnostics$);
    const transport = sockets === undefined ? {} : { transport: world.participant.transport };
    const observed = observe(
      activeContracts(world.client, { parties: ['alice::1220ab'], ...request }, { ...transport, ...options }),
    );
    flush();
    const requests = world.service.requests.filter(({ path }) => [listPath, pagePath].includes(path));
    return { ...world, observed, diagnostics, requests };
  });
}

/** Fails the requests for contracts by their number, from 1. */
export const failAt = (
  reply: (request: ServiceRequest, count: number) => ReturnType<NonNullable<WorldOptions['fault']>>,
) => {
  let count = 0;
  return (request: ServiceRequest) =>
    [listPath, pagePath].includes(request.path) ? reply(request, (count += 1)) : undefined;
};

/** How the snapshots were read, in order. */
export const waysOf = ({ diagnostics }: Outcome): string[] =>
  reported(diagnostics, 'SnapshotStarted').map(({ by }) => by);

export const restartsOf = ({ diagnostics }: Outcome) => reported(diagnostics, 'SnapshotRestarted');

/** Replaces what sockets send. */
export const withSockets =
  (readList: (read: Transport['readList']) => Transport['readList']): NonNullable<Scenario['given']> =>
  ({ participant: { transport } }) => {
    Object.assign(transport, { readList: readList(transport.readList) });
  };
