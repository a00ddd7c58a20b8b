/**
 * Contracts for component tests, which the test creates, moves and archives, and whose connection it breaks. Needs the
 * same packages as `canton-rx/angular`, and runs in browsers and in Node.js, without a network.
 *
 * @module canton-rx/angular/testing
 */

export { provideContractsTesting } from './provideContractsTesting.js';
export { ContractsTestingController, type TestContractOptions } from '../../contracts/ContractsTestingController.js';
