import { defer, filter, type Observable, scan, startWith } from 'rxjs';
import type { CreatedEvent } from '../../codecs/Event.js';
import type { Offset } from '../../codecs/scalars.js';
import { type AnyContract, type ContractLocation, makeContract } from '../../contracts/Contract.js';
import type { Reset } from '../../contracts/ContractChange.js';
import type { ContractQuery } from '../../contracts/ContractQuery.js';
import { ContractList } from '../../contracts/ContractSet.js';
import { loading, type View } from '../../contracts/LiveState.js';
import { ApiError } from '../../errors/ApiError.js';
import { ConnectionError } from '../../errors/request.js';

/** The contracts of a test and the state of their ledger. */
export interface World {
  readonly offset: Offset;
  readonly contracts: ReadonlyMap<string, TestContract>;
  /** Why the contracts were last read. */
  readonly reason: Reset['reason'];
  readonly service: 'open' | 'held' | 'unreachable' | 'refused';
}

/** A contract of a test. */
export interface TestContract {
  /** The template or interface with which it was created, including the package name. */
  readonly typeId: string;
  readonly createdEvent: CreatedEvent;
  readonly location: ContractLocation;
  /** The reassignment counter. */
  readonly moves: number;
}

const path = '/v2/state/active-contracts-page';

/** Emits the view of a query after each change of the world. It errors if the world refuses to show contracts. */
export const viewOfWorld = (world$: Observable<World>, query: ContractQuery): Observable<View<AnyContract>> =>
  defer(() => {
    const contractsOf = contractsIn(query);
    return world$.pipe(
      filter(({ service }) => service !== 'held'),
      scan((view: View<AnyContract>, world) => viewAfter(view, world, contractsOf), loading),
      startWith<View<AnyContract>>(loading),
    );
  });

/** Returns a view after a change of the world. Throws if the view ends. */
function viewAfter(
  view: View<AnyContract>,
  { service, offset, contracts, reason }: World,
  contractsOf: (contracts: Iterable<TestContract>) => ContractList<AnyContract>,
): View<AnyContract> {
  if (service === 'refused') {
    const canton = { code: 'PERMISSION_DENIED', cause: 'refused by the test', errorCategory: 7, context: {} };
    throw new ApiError({ path, status: 403, canton });
  }
  if (service === 'unreachable') {
    const cause = new ConnectionError(path, 'disconnected by the test');
    const connection = { status: 'retrying', cause, attempt: 1, retryAt: Date.now() } as const;
    return { ...view, connection, isLive: false };
  }
  const { snapshot } = contractsOf(contracts.values());
  const changes = [{ _tag: 'Reset', reason, offset, contracts: snapshot.toArray() } as const];
  const known = { changes, offset, isCaughtUp: true, contracts: snapshot };
  return { connection: { status: 'open' }, isLive: true, known };
}

/** Returns a function that selects the contracts of a query. Those that have not changed are the same objects. */
function contractsIn({
  types,
  parties,
}: ContractQuery): (contracts: Iterable<TestContract>) => ContractList<AnyContract> {
  const made = new WeakMap<TestContract, AnyContract>();
  const make = ({ typeId, createdEvent, location, moves }: TestContract): AnyContract | undefined => {
    const { templateId, witnessParties } = createdEvent;
    if (parties !== 'any' && !witnessParties.some((party) => parties.includes(party))) return undefined;
    if (types === undefined) return makeContract()(createdEvent, location, moves);
    const matching = Object.entries(types).filter(([, type]) => [typeId, templateId].includes(type.templateId));
    if (matching.length === 0) return undefined;
    return makeContract(Object.fromEntries(matching))(createdEvent, location, moves);
  };
  return (contracts) => {
    const list = new ContractList<AnyContract>();
    for (const each of contracts) {
      const contract = made.get(each) ?? make(each);
      if (contract === undefined) continue;
      made.set(each, contract);
      list.set(contract.contractId, contract);
    }
    return list;
  };
}
