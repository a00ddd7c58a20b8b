/**
 * Contracts for component tests: a ledger in memory, whose contracts the test creates. Needs neither a network nor Node.js.
 *
 * @module canton-rx/angular/testing
 */

export { provideContractsTesting } from './provideContractsTesting.js';
export { ContractsTestingController, type TestContractOptions } from './ContractsTestingController.js';
