import { type EnvironmentProviders, inject, makeEnvironmentProviders } from '@angular/core';
import { provideLedger } from '../provideLedger.js';
import { CONFLATED } from '../readContracts.js';
import { ContractsTestingController } from './ContractsTestingController.js';

/**
 * Provides a ledger in memory, and the {@link ContractsTestingController} of its contracts. `injectContracts` then
 * shows each change at once instead of with the next frame: a test creates a contract, and `await fixture.whenStable()`
 * renders it.
 *
 * The ledger serves contracts and updates to the parties that see them. It rejects submissions.
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
 *   contracts.archive(contractId);
 * };
 * ```
 *
 * @category Testing
 */
export const provideContractsTesting = (): EnvironmentProviders =>
  makeEnvironmentProviders([
    { provide: ContractsTestingController, useFactory: () => new ContractsTestingController() },
    { provide: CONFLATED, useValue: false },
    provideLedger(() => ({ baseUrl: 'http://ledger.test', port: inject(ContractsTestingController).port })),
  ]);
