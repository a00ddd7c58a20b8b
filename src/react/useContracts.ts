import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import type { ContractType, PayloadOf } from '../codecs/ContractType.js';
import type { Offset } from '../codecs/scalars.js';
import type { AnyContract, ContractOf, ContractTypes } from '../contracts/Contract.js';
import type { ContractPolicies, ContractQuery, ContractsOptions } from '../contracts/ContractQuery.js';
import type { ContractsReset, LiveConnection } from '../contracts/LiveState.js';
import type { AwaitedView } from '../contracts/SingleSubmission.js';
import { constantStore, contractsStore, type ContractsStore, idle, loading, type Reading } from './ContractsStore.js';
import { useLedgerContext } from './LedgerProvider.js';
import { checkChange, LeftToBrowserError, type Renders, suspend, waitsLike } from './suspend.js';

/**
 * A query of {@link useContracts}: without `parties`, it has those of the provider.
 *
 * @category React
 */
export type HookQuery<M extends ContractTypes = ContractTypes> = Omit<ContractQuery<M>, 'parties'> &
  Partial<Pick<ContractQuery, 'parties'>> &
  ContractPolicies;

/**
 * Options of {@link useContract}.
 *
 * @category React
 */
export interface UseContractOptions extends ContractsOptions {
  /**
   * The minimum time between two renders, as for `conflate`: a number of milliseconds, or once per frame.
   *
   * @defaultValue 'animationFrame'
   */
  readonly conflate?: number | 'animationFrame' | undefined;
  /**
   * Suspends the component while the status is `'loading'`, and throws the error of a view that has ended: for a `Suspense`
   * and an error boundary around it. A component that is mounted more than a second after an error begins again. On a server, the fallback
   * of the `Suspense` is rendered.
   *
   * @defaultValue false
   */
  readonly suspense?: boolean | undefined;
}

/**
 * Options of {@link useContracts}.
 *
 * @category React
 */
export interface UseContractsOptions<C extends AnyContract, S extends C = C> extends UseContractOptions {
  /** Selects contracts. A type guard narrows them. Default: all. */
  readonly select?: ((contract: C) => contract is S) | ((contract: C) => boolean) | undefined;
  /** The order, as for `Array.sort`. Default: the order in which the contracts became known. */
  readonly compare?: ((a: S, b: S) => number) | undefined;
}

/**
 * The known contracts of a query, for every hook that shows them.
 *
 * @category React
 */
export type ContractsStatus = KnownStatus & StatusOrError;

/**
 * The status, with the error if there is one.
 *
 * @inline
 */
type StatusOrError =
  | {
      /**
       * `'idle'`: there is no query. `'loading'`: the contracts are not known yet. `'live'`: they are those at the last
       * known ledger end. `'stale'`: they are complete as of `offset`, and newer changes are not known, for
       * example while `connection` retries or after `reload`.
       */
      readonly status: 'idle' | 'loading' | 'live' | 'stale';
      /** Only with the status `'error'`. A temporary failure shows in `connection`. */
      readonly error?: undefined;
    }
  | {
      /** The view has ended, see `error`. */
      readonly status: 'error';
      /** The error that ended the view, usually a `LedgerError`. */
      readonly error: Error;
    };

/**
 * What is known with each status.
 *
 * @inline
 */
interface KnownStatus {
  /** The state of the connection, and why a request is retried. Absent without a query, and after an error. */
  readonly connection: LiveConnection | undefined;
  /** The offset up to which everything is applied, once the contracts are known. */
  readonly offset: Offset | undefined;
  /**
   * The time since which the contracts may not be the newest, in milliseconds since the epoch: with the status `'stale'`, and with
   * contracts that an `'error'` has kept.
   */
  readonly staleSince: number | undefined;
  /**
   * Whether the contracts are those of another ledger, because the participant was restored or replaced while they were
   * shown. `undefined` if not, and again after `reload` or with another query.
   */
  readonly reset: ContractsReset | undefined;
  /**
   * Reads the contracts again, for all components with an equal query: for example after an error. A view stays up to
   * date without it. Always the same function for a query.
   */
  readonly reload: () => void;
  /**
   * Emits when the contracts include a transaction, and completes; without a value if no component shows them. For the option
   * `awaits` of `useSubmit`. Always the same function for a query.
   */
  readonly after: AwaitedView['after'];
}

/**
 * The contracts of a query.
 *
 * @category React
 */
export type ContractsResult<C extends AnyContract = AnyContract> = ContractsStatus & {
  /**
   * The contracts. Empty unless the status is `'live'` or `'stale'`, or `'error'` with a `DecodeError`: the contracts before
   * an update that cannot be decoded stay. The same array as long as no contract changes, and
   * the same objects for contracts that have not changed.
   */
  readonly contracts: readonly C[];
};

/**
 * A contract.
 *
 * @category React
 */
export type ContractResult<C extends AnyContract = AnyContract> = ContractsStatus & {
  /** The contract. If the status is `'live'` and it is absent, there is no such contract, or it is archived. */
  readonly contract: C | undefined;
};

/**
 * Returns the active contracts of a query, and renders the component when they change. The view begins when the
 * component is mounted. All components with an equal query share it, and it is kept for 30 seconds after the last of
 * them, as with `shareContracts`.
 *
 * The query may be written in the component: only its content counts. Its types are compared by template ID and decoder,
 * so create them outside. For another query, the status is `'loading'` and there are no contracts. With `null` it is
 * `'idle'`, and nothing is requested. On a server the status is `'loading'`.
 *
 * @throws Error without a {@link LedgerProvider}, and for types that are created in each render
 * @example
 * ```ts
 * import { contractType } from 'canton-rx';
 * import { useContracts } from 'canton-rx/react';
 * import * as t from 'io-ts';
 *
 * const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string, amount: t.string }));
 *
 * const Total = ({ party }: { party: string }) => {
 *   const { status, contracts, error } = useContracts({ types: { iou: Iou }, parties: [party] });
 *   if (status === 'error') return error.message;
 *   return status === 'loading' ? 'Loading' : `${contracts.length} IOUs`;
 * };
 * ```
 *
 * @category React
 */
export function useContracts<M extends ContractTypes, S extends ContractOf<M> = ContractOf<M>>(
  query: HookQuery<M> | null | undefined,
  options: UseContractsOptions<ContractOf<M>, S> = {},
): ContractsResult<S> {
  const { select, compare, ...rest } = options;
  const { reading, reload, after } = useReading('useContracts', query, rest);
  // the contracts have the types of the query
  const known = reading.contracts?.toArray() as readonly ContractOf<M>[] | undefined;
  const contracts = useSelection(
    known ?? none,
    select as ((contract: ContractOf<M>) => contract is S) | undefined,
    compare,
  );
  return useMemo(() => ({ ...statusOf(reading), contracts, reload, after }), [reading, contracts, reload, after]);
}

/**
 * Returns a contract, and renders the component when it changes. It reads all contracts of a query: those of the type for
 * the parties of the provider, or those of a query that other components show. Equal queries share one view.
 *
 * @param typeOrQuery - the type of the contract, or a query that has it
 * @param contractId - the contract ID; with `null` the status is `'idle'`
 * @throws Error as {@link useContracts} does
 * @example
 * ```ts
 * import { contractType } from 'canton-rx';
 * import { useContract } from 'canton-rx/react';
 * import * as t from 'io-ts';
 *
 * const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string, amount: t.string }));
 *
 * const Amount = ({ contractId }: { contractId: string }) => {
 *   const { status, contract } = useContract(Iou, contractId);
 *   if (status === 'live' && contract === undefined) return 'archived';
 *   return contract?.payload?.amount;
 * };
 * ```
 *
 * @category React
 */
export function useContract<T extends ContractType>(
  typeOrQuery: T,
  contractId: string | null | undefined,
  options?: UseContractOptions,
): ContractResult<ContractOf<Readonly<Record<'contract', ContractType<PayloadOf<T>>>>>>;
export function useContract<M extends ContractTypes>(
  typeOrQuery: HookQuery<M>,
  contractId: string | null | undefined,
  options?: UseContractOptions,
): ContractResult<ContractOf<M>>;
export function useContract(
  typeOrQuery: ContractType | HookQuery,
  contractId: string | null | undefined,
  options: UseContractOptions = {},
): ContractResult {
  const query = 'decoder' in typeOrQuery ? { types: { contract: typeOrQuery } } : typeOrQuery;
  const { reading, reload, after } = useReading('useContract', contractId == null ? null : query, options);
  const contract = contractId == null ? undefined : reading.contracts?.get(contractId);
  return useMemo(() => ({ ...statusOf(reading), contract, reload, after }), [reading, contract, reload, after]);
}

const none: readonly never[] = [];

type StatusOnly = StatusOrError & Omit<KnownStatus, 'reload' | 'after'>;

function statusOf({ status, error, connection, offset, staleSince, reset }: Reading): StatusOnly {
  const known = { connection, offset, staleSince, reset };
  return status === 'error' ? { status, error, ...known } : { status, error, ...known };
}

const idleStore = constantStore(idle);

function useReading(
  hook: string,
  given: HookQuery | null | undefined,
  { conflate: period = 'animationFrame', suspense = false, ...options }: UseContractOptions,
): Pick<ContractsStore, 'reload' | 'after'> & { readonly reading: Reading } {
  const { shared, parties = [], isConflated } = useLedgerContext(hook);
  const query = given && { ...given, parties: given.parties ?? parties };
  const key = query ? `${period} ${shared.keyOf(query, options)}` : undefined;
  const [renders] = useState<Renders>(() => ({ key, shown: key, shape: '', changes: 0 }));
  // what waits is counted by itself
  if (!suspense) checkChange(renders, hook, key, query);
  useEffect(() => {
    renders.shown = key;
  });
  // the key stands for the query and the options
  const store = useMemo((): ContractsStore => {
    return query ? contractsStore(shared, query, isConflated ? period : undefined, options) : idleStore;
  }, [shared, key, isConflated]);
  const onServer = (): Reading => {
    if (!query) return idle;
    if (suspense) throw new LeftToBrowserError(hook);
    return loading;
  };
  const reading = useSyncExternalStore(store.subscribe, store.current, onServer);
  if (suspense && query && key !== undefined) suspend(store, reading, key, waitsLike(shared, query), hook);
  return { reading, reload: store.reload, after: store.after };
}

/** Returns the selected contracts in order: the same array as before if they are the same, however often it is rendered. */
function useSelection<C extends AnyContract, S extends C>(
  contracts: readonly C[],
  select: ((contract: C) => contract is S) | undefined,
  compare: ((a: S, b: S) => number) | undefined,
): readonly S[] {
  const [before] = useState<{ selected: readonly S[] }>(() => ({ selected: none }));
  return useMemo(() => {
    const matching = select === undefined ? (contracts as readonly S[]) : contracts.filter(select);
    const selected = compare === undefined ? matching : [...matching].sort(compare);
    const isSame =
      selected.length === before.selected.length && selected.every((contract, i) => contract === before.selected[i]);
    if (!isSame) before.selected = selected;
    return before.selected;
  }, [contracts, select, compare, before]);
}
