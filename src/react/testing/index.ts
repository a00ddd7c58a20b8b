/**
 * Contracts for component tests, which the test creates, moves and archives, and whose connection it breaks. Needs the
 * same packages as `canton-rx/react`, and runs in browsers and in Node.js, without a network.
 *
 * @module canton-rx/react/testing
 */

export { TestLedgerProvider, type TestLedgerProviderProps } from './TestLedgerProvider.js';
export { ContractsTestingController, type TestContractOptions } from '../../contracts/ContractsTestingController.js';
