import { isObservable, type Observable } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import { reportEnd } from '../feed/updates.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import type { ContractOf, ContractTypes } from './Contract.js';
import type { ContractChange } from './ContractChange.js';
import { type ContractPolicies, type ContractQuery, type ContractsOptions, copyOf, readFrom } from './ContractQuery.js';
import { join } from './join.js';
import { toChanges } from './LiveState.js';

/**
 * Options of {@link contractChanges}.
 *
 * @category Contracts
 */
export interface ContractChangesOptions extends ContractsOptions {
  /**
   * The offset at which the caller has the contracts of this query, such as the offset of the last change that it
   * stored. The contracts at this offset are read again without a `Reset`, and the changes after it follow. Contracts that
   * have appeared at it meanwhile, such as after the upload of a package, are not emitted: `contractsFeed` notices them. If the
   * ledger is pruned after it or ends before it, `onGap` applies. With `onUnknownPackage: 'wait'` the changes always
   * begin with a `Reset`, because a type may have become known after the last change.
   *
   * @defaultValue none: the changes begin with a `Reset`
   */
  readonly resumeFrom?: Offset | undefined;
}

/**
 * Emits the active contracts of some types and then their changes: first a `Reset` with all contracts, then one
 * `ContractsChanged` for each update of the ledger that changes some of them, complete and in order. Does not complete.
 * Cold: each subscription reads the contracts again; {@link liveContracts} shares and keeps them.
 *
 * Emits nothing before all contracts have been read. After an outage the changes continue without a gap. If that is no
 * longer possible, it emits another `Reset` with all contracts, whose `reason` says why.
 *
 * A contract that moves between synchronizers is not removed in the meantime: its `location` is `inFlight`.
 *
 * If a package is uploaded through which existing contracts implement an interface of the query, or if earlier updates
 * become visible in another way, it reads the contracts again and emits the difference as one `ContractsChanged` with a
 * `reason`. To notice an upload, a query with an interface reads the list of packages from time to time.
 *
 * Fails with the errors of `ledger.updates`, and with those of the query's policies.
 *
 * @param ledger - a ledger from `createLedger`, `createLedgerReader` or `injectLedger`
 * @param query - the types, by names of your choice; the parties; and what to do if the query cannot be served
 * @param options - the page sizes, the transport, the retry policy, and the offset to resume from
 * @throws TypeError for invalid options, for a query without parties, and if the `updates` of the ledger were replaced
 * @example
 * ```ts
 * import * as t from 'io-ts';
 * import { contractType, createLedger } from 'canton-rx';
 * import { contractChanges } from 'canton-rx/contracts';
 * import { take } from 'rxjs';
 *
 * const Task = contractType('#sandbox-tasks:Tasks.Model:Task', t.type({ owner: t.string, title: t.string }));
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * contractChanges(ledger, { types: { task: Task }, parties: 'any' })
 *   .pipe(take(2))
 *   .subscribe((change) => {
 *     if (change._tag === 'Reset') console.log(`${change.contracts.length} contracts at ${change.offset}`);
 *     if (change._tag !== 'ContractsChanged') return;
 *     for (const contract of change.added) if (contract.type === 'task') console.log(contract.payload.title);
 *   });
 * ```
 *
 * @category Contracts
 */
export function contractChanges<M extends ContractTypes>(
  ledger: LedgerReader,
  query: ContractQuery<M> & ContractPolicies,
  options: ContractChangesOptions = {},
): Observable<ContractChange<ContractOf<M>>> {
  const { parties } = query;
  if (!isObservable(parties) && parties.length === 0)
    throw new TypeError("parties is empty; use 'any' for every party");
  const { resumeFrom } = options;
  const own = copyOf(query);
  const changes$ = readFrom(ledger, options, (source) =>
    toChanges(join(source, { query: own, resumeFrom }).pipe(reportEnd(source.report)), resumeFrom !== undefined),
  );
  // the contracts have the types of the query
  return changes$ as Observable<ContractChange<ContractOf<M>>>;
}
