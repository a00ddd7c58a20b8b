/**
 * The active contracts of a ledger: one-time snapshots, changes after a snapshot, and live views that stay up to date.
 * Needs no other package than `canton-rx`, and runs in browsers and in Node.js.
 *
 * @example
 * ```ts
 * import { createLedger } from 'canton-rx';
 * import { liveContracts } from 'canton-rx/contracts';
 * import { take } from 'rxjs';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * liveContracts(ledger, { parties: 'any' })
 *   .count$()
 *   .pipe(take(1))
 *   .subscribe((count) => console.log(`${count} active contracts`));
 * ```
 *
 * @module canton-rx/contracts
 */

// Snapshots, changes and views
export { activeContracts, type ActiveContractsOptions, type ActiveContractsRequest } from './activeContracts.js';
export { contractChanges, type ContractChangesOptions } from './contractChanges.js';
export { conflate } from './conflate.js';
export { contractsFor } from './contractsFor.js';
export { liveContracts, type LiveContracts } from './liveContracts.js';
export { optimistic, type OptimisticChange, type OptimisticState, type RefusedChange } from './optimistic.js';
export { partiesOf, type PartiesOfOptions } from './partiesOf.js';
export { shareContractsOf } from './shareContractsOf.js';
export { shareContracts, type SharedContracts, type SharedView, type ShareOptions } from './shareContracts.js';
export type { ContractPolicies, ContractQuery, ContractsOptions } from './ContractQuery.js';

// Contracts
export type { AnyContract, Contract, ContractFacts, ContractLocation } from './Contract.js';
export type { ContractOf, ContractTypes, UndecodedContract } from './Contract.js';
export type { ContractSet } from './ContractSet.js';
export type { ContractsKnown, ContractsLoading, LiveConnection, LiveState } from './LiveState.js';

// Changes
export type { ContractChange, ContractsChanged, Moved, Reset } from './ContractChange.js';
export type { ContractsDifference, ContractsReconciled, ContractsUpdated, ReconcileReason } from './ContractChange.js';
export type { ContractsCaughtUp, ContractsFellBehind } from './ContractChange.js';

// Entries of a snapshot
export { ContractEntry, type ActiveContract, type UnknownContractEntry } from '../codecs/ContractEntry.js';
export type { IncompleteAssigned, IncompleteUnassigned } from '../codecs/ContractEntry.js';

// of views and forms in React and in Angular
export type { ContractsReset } from './LiveState.js';
export type { SubmitOutcome } from './SingleSubmission.js';
