/**
 * A ledger for React components: its contracts by a hook that renders a component when they change, and submissions.
 * Needs `react`, version 18 or later, in addition to `canton-rx`. Runs in browsers; on a server it renders the state in
 * which nothing is known yet.
 *
 * @module canton-rx/react
 */

'use client';

export { LedgerProvider, type LedgerProviderProps, useLedger } from './LedgerProvider.js';
export { useContract, useContracts, type UseContractOptions, type UseContractsOptions } from './useContracts.js';
export type { ContractResult, ContractsResult, ContractsStatus, HookQuery } from './useContracts.js';
export type { ContractsReset } from '../contracts/LiveState.js';
export { useSession, type SessionResult } from './useSession.js';
export { useSubmit, type SubmitState, type UseSubmitOptions } from './useSubmit.js';
export type { SubmitOutcome } from '../contracts/SingleSubmission.js';
