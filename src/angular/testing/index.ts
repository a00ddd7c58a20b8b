/**
 * A ledger in memory for component tests, in which the test creates and archives contracts. Needs the same packages as
 * `canton-rx/angular`, and runs in browsers and in Node.js, without a network.
 *
 * @module canton-rx/angular/testing
 */

export { provideContractsTesting } from './provideContractsTesting.js';
export { ContractsTestingController, type TestContractOptions } from './ContractsTestingController.js';
