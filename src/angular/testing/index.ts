/**
 * Contracts for component tests, which the test creates, moves and archives, and whose connection it breaks. Needs the
 * same packages as `canton-rx/angular`, and runs in browsers and in Node.js, without a network.
 *
 * @module canton-rx/angular/testing
 */

import { type EnvironmentProviders, makeEnvironmentProviders } from '@angular/core';
import { ContractsTestingController, unservedLedger } from '../../contracts/ContractsTestingController.js';
import { provideLedger } from '../provideLedger.js';
import { SHARED_CONTRACTS } from '../provideContracts.js';

export { ContractsTestingController, type TestContractOptions } from '../../contracts/ContractsTestingController.js';

/**
 * Provides contracts without a ledger, and the {@link ContractsTestingController} that creates them. `injectContracts`
 * then shows each change immediately instead of with the next frame: a test creates a contract, and
 * `await fixture.whenStable()` renders it.
 *
 * The ledger of `injectLedger` answers every request with an error, status 404. A component that uses it needs a
 * provider for `LEDGER` after this one.
 *
 * @returns the providers, for `TestBed.configureTestingModule`
 * @example
 * ```ts
 * import '@angular/compiler'; // outside Angular's own builds
 * import { contractType } from 'canton-rx';
 * import { ContractsTestingController, provideContractsTesting } from 'canton-rx/angular/testing';
 * import * as t from 'io-ts';
 *
 * const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string, amount: t.string }));
 * const alice = 'alice::1220ab';
 *
 * const providers = [provideContractsTesting()];
 * const test = (contracts: ContractsTestingController): void => {
 *   const contractId = contracts.create(Iou, { owner: alice, amount: '10.0' }, { signatories: [alice] });
 *   contracts.disconnect();
 *   contracts.archive(contractId);
 *   contracts.reconnect();
 * };
 * ```
 *
 * @category Testing
 */
export const provideContractsTesting = (): EnvironmentProviders =>
  makeEnvironmentProviders([
    { provide: ContractsTestingController, useFactory: () => new ContractsTestingController() },
    {
      provide: SHARED_CONTRACTS,
      useFactory:
        ({ shared }: ContractsTestingController) =>
        () =>
          shared,
      deps: [ContractsTestingController],
    },
    provideLedger(unservedLedger),
  ]);
