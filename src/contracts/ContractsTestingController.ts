import {
  BehaviorSubject,
  combineLatest,
  defer,
  filter,
  isObservable,
  map,
  type Observable,
  of,
  scan,
  startWith,
} from 'rxjs';
import { type ContractType, type CreatableType, isInterfaceType } from '../codecs/ContractType.js';
import type { CreatedEvent } from '../codecs/Event.js';
import type { Offset } from '../codecs/scalars.js';
import { type AnyContract, type ContractLocation, makeContract } from './Contract.js';
import type { ContractQuery } from './ContractQuery.js';
import { ContractList } from './ContractSet.js';
import type { Parties } from './selection/Selection.js';
import { loading, type View } from './LiveState.js';
import { type SharedContracts, shareViews } from './shareContracts.js';
import type { LedgerOptions } from '../ledger/LedgerOptions.js';
import { ApiError } from '../errors/ApiError.js';
import { ConnectionError } from '../errors/request.js';
import { bareOffset } from '../codecs/LedgerPosition.js';

/**
 * The stakeholders of a test contract.
 *
 * @category Testing
 */
export interface TestContractOptions {
  /**
   * The signatories.
   *
   * @defaultValue one party, `'test::1220'`
   */
  readonly signatories?: readonly string[] | undefined;
  /**
   * The observers.
   *
   * @defaultValue none
   */
  readonly observers?: readonly string[] | undefined;
}

/**
 * The contracts that components show in a test, and the connection to their ledger. Each call takes effect immediately.
 *
 * @category Testing
 */
export class ContractsTestingController {
  readonly #world$ = new BehaviorSubject<World>({ offset: 0, contracts: new Map(), resets: 0, service: 'open' });
  /**
   * The views of the contracts.
   *
   * @internal
   */
  readonly shared: SharedContracts = shareViews((query) => viewOfWorld(this.#world$, query), { keepMs: Infinity });
  #created = 0;

  /**
   * Creates a contract of a template.
   *
   * @param type - the template
   * @param payload - the contract arguments
   * @returns the contract ID
   */
  create<T extends CreatableType>(type: T, payload: Parameters<T['encode']>[0], options?: TestContractOptions): string;
  /**
   * Creates a contract that has a view of an interface.
   *
   * @param type - the interface
   * @param payload - the view as the JSON of the ledger
   * @returns the contract ID
   */
  create(type: ContractType, payload: unknown, options?: TestContractOptions): string;
  create(type: ContractType | CreatableType, payload: unknown, options: TestContractOptions = {}): string {
    this.#created += 1;
    const contractId = `00${this.#created.toString(16).padStart(8, '0')}`;
    const createdEvent = createdOf(contractId, this.#world$.value.offset + 1, type, payload, options);
    this.#put(contractId, { typeId: type.templateId, createdEvent, location: { synchronizerId }, moves: 0 });
    return contractId;
  }

  /**
   * Archives a contract.
   *
   * @throws Error if there is no such contract
   */
  archive(contractId: string): void {
    this.#contract(contractId);
    this.#put(contractId, undefined);
  }

  /**
   * Moves a contract to another synchronizer, or sends it on its way between two.
   *
   * @throws Error if there is no such contract
   */
  reassign(contractId: string, location: ContractLocation): void {
    const { moves, ...contract } = this.#contract(contractId);
    this.#put(contractId, { ...contract, location, moves: moves + 1 });
  }

  /**
   * Replaces the ledger by an empty one, whose offsets begin again. To show the contracts of the former ledger as stale,
   * call `disconnect` before, and `reconnect` after.
   */
  reset(): void {
    this.#next({ offset: 0, contracts: new Map(), resets: this.#world$.value.resets + 1 });
  }

  /**
   * Breaks the connection: what is shown becomes stale, `connection` retries, and changes are not shown until `reconnect`
   * is called.
   */
  disconnect(): void {
    this.#next({ service: 'unreachable' });
  }

  /** Ends `disconnect`: the changes since then are shown. */
  reconnect(): void {
    this.#next({ service: 'open' });
  }

  /** Stops answering, like a slow ledger: what is not known yet stays `'loading'`, and changes are not shown. */
  hold(): void {
    this.#next({ service: 'held' });
  }

  /** Ends `hold` and `refuse`. After `refuse`, the contracts are shown again when they are reloaded. */
  release(): void {
    this.#next({ service: 'open' });
  }

  /** Refuses to show contracts for lack of rights until `release` is called. This ends each view with an error. */
  refuse(): void {
    this.#next({ service: 'refused' });
  }

  #contract(contractId: string): TestContract {
    const contract = this.#world$.value.contracts.get(contractId);
    if (contract === undefined) throw new Error(`There is no active contract ${contractId}.`);
    return contract;
  }

  #put(contractId: string, contract: TestContract | undefined): void {
    const contracts = new Map(this.#world$.value.contracts);
    if (contract === undefined) contracts.delete(contractId);
    else contracts.set(contractId, contract);
    this.#next({ contracts, offset: this.#world$.value.offset + 1 });
  }

  #next(change: Partial<World>): void {
    this.#world$.next({ ...this.#world$.value, ...change });
  }
}

/**
 * The options of a ledger that answers every request with an error, status 404.
 *
 * @internal
 */
export const unservedLedger: LedgerOptions = {
  baseUrl: 'http://ledger.test',
  port: () => of({ status: 404, headers: {}, text: 'not served in tests' }),
};

const packageId = 'package-of-tests';
const synchronizerId = 'synchronizer::of-tests';

/** Returns the event of a new contract. */
function createdOf(
  contractId: string,
  offset: Offset,
  type: ContractType | CreatableType,
  payload: unknown,
  { signatories = ['test::1220'], observers = [] }: TestContractOptions,
): CreatedEvent {
  const { templateId } = type;
  const end = templateId.indexOf(':');
  const hasName = templateId.startsWith('#');
  const wireId = hasName ? `${packageId}${templateId.slice(end)}` : templateId;
  const isInterface = isInterfaceType(type);
  return {
    ...{ _tag: 'CreatedEvent', offset, nodeId: 0, contractId, createdAt: new Date().toISOString() },
    templateId: isInterface ? `${packageId}:Tests:Instance` : wireId,
    packageName: hasName && !isInterface ? templateId.slice(1, end) : 'tests',
    createArgument: 'encode' in type ? type.encode(payload) : {},
    interfaceViews: isInterface ? [{ interfaceId: wireId, viewStatus: { code: 0 }, viewValue: payload }] : [],
    ...{ signatories: [...signatories], observers: [...observers], witnessParties: [...signatories, ...observers] },
    ...{ representativePackageId: packageId, acsDelta: true },
  };
}

/** The contracts of a test and the state of their ledger. */
interface World {
  readonly offset: Offset;
  readonly contracts: ReadonlyMap<string, TestContract>;
  /** How many ledgers were replaced by this one. */
  readonly resets: number;
  readonly service: 'open' | 'held' | 'unreachable' | 'refused';
}

/** A contract of a test. */
interface TestContract {
  /** The template or interface with which it was created, including the package name. */
  readonly typeId: string;
  readonly createdEvent: CreatedEvent;
  readonly location: ContractLocation;
  /** The reassignment counter. */
  readonly moves: number;
}

/** The state that a view shows, and its ledger. */
interface Shown {
  readonly view: View<AnyContract>;
  readonly resets: number;
}

const path = '/v2/state/active-contracts-page';

/** Emits the view of a query after each change of the world. It errors if the world refuses to show contracts. */
const viewOfWorld = (world$: Observable<World>, query: ContractQuery): Observable<View<AnyContract>> =>
  defer(() => {
    const contractsOf = contractsIn(query);
    const parties$ = isObservable(query.parties) ? query.parties : of(query.parties);
    return combineLatest([world$, parties$]).pipe(
      filter(([{ service }]) => service !== 'held'),
      scan(
        ({ view, resets }: Shown, [world, parties]) => ({
          view: viewAfter(view, world, resets < world.resets, (contracts) => contractsOf(contracts, parties)),
          resets: world.service === 'open' ? world.resets : resets,
        }),
        { view: loading, resets: Infinity },
      ),
      map(({ view }) => view),
      startWith<View<AnyContract>>(loading),
    );
  });

/** Returns a view after a change of the world. Throws if the view ends. */
function viewAfter(
  view: View<AnyContract>,
  { service, offset, contracts }: World,
  isReset: boolean,
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
  const reason = isReset ? 'ledgerReset' : 'start';
  const items = [{ _tag: 'Reset', reason, offset, contracts: snapshot.toArray() } as const];
  const position = bareOffset(offset);
  const origin = { before: position, isAddressed: true };
  const known = { items, position, origin, offset, isCaughtUp: true, contracts: snapshot };
  return { connection: { status: 'open' }, isLive: true, known };
}

/** Returns a function that selects the contracts that some parties see. Those that have not changed are the same objects. */
function contractsIn({
  types,
}: ContractQuery): (contracts: Iterable<TestContract>, parties: Parties) => ContractList<AnyContract> {
  const made = new WeakMap<TestContract, AnyContract>();
  const make = ({ typeId, createdEvent, location, moves }: TestContract): AnyContract | undefined => {
    const { templateId } = createdEvent;
    if (types === undefined) return makeContract()(createdEvent, location, moves);
    const matching = Object.entries(types).filter(([, type]) => [typeId, templateId].includes(type.templateId));
    if (matching.length === 0) return undefined;
    return makeContract(Object.fromEntries(matching))(createdEvent, location, moves);
  };
  return (contracts, parties) => {
    const list = new ContractList<AnyContract>();
    for (const each of contracts) {
      const { witnessParties } = each.createdEvent;
      if (parties !== 'any' && !witnessParties.some((party) => parties.includes(party))) continue;
      const contract = made.get(each) ?? make(each);
      if (contract === undefined) continue;
      made.set(each, contract);
      list.set(contract.contractId, contract);
    }
    return list;
  };
}
