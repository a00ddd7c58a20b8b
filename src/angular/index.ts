/**
 * A ledger for Angular's dependency injection. Needs `@angular/core` and `@angular/common`, version 17 or later, beside
 * `canton-rx`.
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
export type { ContractsResource, ContractsStatus } from './ContractsResource.js';
