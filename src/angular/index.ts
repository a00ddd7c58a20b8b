/**
 * The ledger in Angular's dependency injection. Needs `@angular/core` and `@angular/common`, 17 or later, beside
 * `canton-rx`.
 *
 * @module canton-rx/angular
 */

export { provideLedger } from './provideLedger.js';
export { injectLedger } from './injectLedger.js';
export { LEDGER } from './LEDGER.js';
export type { LedgerFeature } from './LedgerFeature.js';
export { withAngularHttp } from './withAngularHttp.js';
export { withServerFeeds } from './withServerFeeds.js';
