/**
 * A ledger for Angular's dependency injection, and its contracts as signals. Needs `@angular/core` and `@angular/common`,
 * version 17 or later, in addition to `canton-rx`, and runs in browsers and on servers that render pages.
 *
 * @module canton-rx/angular
 */

export { provideLedger } from './provideLedger.js';
export { injectLedger } from './provideLedger.js';
export { LEDGER } from './provideLedger.js';
export type { LedgerFeature } from './provideLedger.js';
export { withAngularHttp } from './provideLedger.js';
export { withServerFeeds } from './provideLedger.js';
export { withPendingTasks } from './provideLedger.js';
export type { PendingTaskList } from './zone.js';
export { injectContracts, type InjectContractsOptions } from './injectContracts.js';
export { injectContract, type ContractResource, type InjectContractOptions } from './injectContract.js';
export { injectSession, type SessionResource } from './injectSession.js';
export { injectSubmit, type InjectSubmitOptions, type SubmitResource } from './injectSubmit.js';
export type { SubmitOutcome } from '../contracts/SingleSubmission.js';
export { injectClearContracts, provideContracts } from './provideContracts.js';
export type { ContractsResource, ContractsSnapshot, ContractsStatus } from './ContractsResource.js';
export type { ContractsReset } from '../contracts/LiveState.js';
