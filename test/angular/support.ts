import '@angular/compiler';
import { createEnvironmentInjector, EnvironmentInjector, ErrorHandler, NgModule, platformCore } from '@angular/core';
import { ɵINJECTOR_SCOPE as INJECTOR_SCOPE, type EnvironmentProviders, type Provider } from '@angular/core';
import { getTestBed, TestBed, TestComponentRenderer } from '@angular/core/testing';
import { afterEach } from '@jest/globals';
import { type ContractsResource, injectLedger } from '../../src/angular/index.js';
import { acsDelta } from '../../src/codecs/UpdateFormat.js';
import type { Ledger } from '../../src/ledger/Ledger.js';
import { ids } from '../contracts/brief.js';

/** All updates of all parties. */
export const all = { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) };

class EmptyModule {
  readonly name = 'empty';
}
// applies the decorator without a compiler, with the providers of BrowserModule that tests need
NgModule({ providers: [ErrorHandler, TestComponentRenderer, { provide: INJECTOR_SCOPE, useValue: 'root' }] })(
  EmptyModule,
);
getTestBed().initTestEnvironment(EmptyModule, platformCore());
afterEach(() => {
  TestBed.resetTestingModule();
});

/** The ledger of an application with these providers. It has no page: tests that need one run in a browser. */
export function ledgerOf(...providers: readonly (Provider | EnvironmentProviders)[]): Ledger {
  TestBed.configureTestingModule({ providers: [...providers] });
  return TestBed.runInInjectionContext(injectLedger);
}

/** Calls a function in the injection context of the application. */
export const inject: <R>(make: () => R) => R = (make) => TestBed.runInInjectionContext(make);

/** An injector of a route or a component, which the test may destroy. */
export const childInjector = (...providers: readonly EnvironmentProviders[]): EnvironmentInjector =>
  createEnvironmentInjector([...providers], TestBed.inject(EnvironmentInjector));

/** The ids of the contracts that a resource shows. */
export const idsOf = ({ value }: ContractsResource): string => ids(value());
