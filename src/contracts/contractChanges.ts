import { concatMap, defer, type Observable } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import type { AnyContract, ContractOf, ContractTypes } from './Contract.js';
import type { ContractChange } from './ContractChange.js';
import type { ContractPolicies, ContractQuery } from './ContractQuery.js';
import { type ContractsOptions, contractsSource } from './ContractsSource.js';
import { join, type JoinStep } from './join.js';

/**
 * Options of {@link contractChanges}.
 *
 * @category Contracts
 */
export interface ContractChangesOptions extends ContractsOptions {
  /**
   * The offset at which the caller has the contracts of this query, such as that of the last change that it has stored. The
   * contracts are read again at this offset, without a `Reset`, and the changes after it follow. If the ledger is pruned
   * after it, or ends before it, `onGap` applies. With `onUnknownPackage: 'wait'` the changes begin with a `Reset` all the
   * same, since a type may have become known only after the last change.
   *
   * @defaultValue none: the changes begin with a `Reset`
   */
  readonly resumeFrom?: Offset | undefined;
}

/**
 * The active contracts of some types, and how they change: first a `Reset` with all contracts, then one `ContractsChanged`
 * for each update of the ledger that changes some of them, whole and in order, without an end. Cold: each subscription
 * reads the contracts again. {@link liveContracts} shares and keeps them.
 *
 * Nothing is emitted before all contracts are read. After an outage the changes go on where they were. If that is no longer
 * possible, another `Reset` has all contracts again, and its `reason` says why.
 *
 * A contract that is moved between synchronizers is not removed meanwhile: its `location` is then `inFlight`.
 *
 * The contracts that implement an interface are those by the packages that the participant knows. If a package is uploaded
 * by which contracts that exist already implement an interface of the query, only a new subscription has them.
 *
 * It fails as `ledger.updates` does, and with the errors that the policies of the query say.
 *
 * @param ledger - a ledger from `createLedger`, `createLedgerReader`, `createTracedLedger` or `injectLedger`
 * @param query - the types by names of your choice, the parties, and what to do where the query cannot be served
 * @param options - the size of pages, the transport, how to retry, and where to resume
 * @throws TypeError for invalid options, for a query without parties, and for an object that is no ledger of this library
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
  const sourceOf = contractsSource(ledger, options);
  if (query.parties.length === 0) throw new TypeError("parties is empty; use 'any' for every party");
  const { resumeFrom } = options;
  const changes$ = defer(() => {
    let isCaughtUp = false;
    const feed = sourceOf(0).service.newFeed();
    return join(sourceOf(feed), { query, resumeFrom }).pipe(
      concatMap((step) => {
        const hasChanged = step.isCaughtUp !== isCaughtUp;
        ({ isCaughtUp } = step);
        return hasChanged ? [...step.changes, lagChange(step)] : step.changes;
      }),
    );
  });
  // the contracts have the types of the query
  return changes$ as Observable<ContractChange<ContractOf<M>>>;
}

const lagChange = ({ isCaughtUp, offset }: JoinStep<AnyContract>): ContractChange => ({
  _tag: isCaughtUp ? 'CaughtUp' : 'FellBehind',
  offset,
});
