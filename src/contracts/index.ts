/**
 * The active contracts of a ledger, now and from now on: snapshots, changes, and a live view.
 *
 * @module canton-rx/contracts
 */

export type { ContractsOptions } from './ContractsSource.js';
export type { ContractPolicies, ContractQuery } from './ContractQuery.js';
export type {
  AnyContract,
  Contract,
  ContractFacts,
  ContractLocation,
  ContractOf,
  ContractTypes,
  UndecodedContract,
} from './Contract.js';
export type {
  ContractChange,
  ContractsCaughtUp,
  ContractsChanged,
  ContractsFellBehind,
  Moved,
  Reset,
} from './ContractChange.js';
export {
  type ActiveContract,
  ContractEntry,
  type IncompleteAssigned,
  type IncompleteUnassigned,
  type UnknownContractEntry,
} from '../codecs/ContractEntry.js';
