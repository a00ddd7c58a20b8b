import '@angular/compiler';
import {
  ErrorHandler,
  NgModule,
  platformCore,
  ɵINJECTOR_SCOPE as INJECTOR_SCOPE,
  type EnvironmentProviders,
  type Provider,
} from '@angular/core';
import { getTestBed, TestBed, TestComponentRenderer } from '@angular/core/testing';
import { injectLedger } from '../../src/angular/index.js';
import { acsDelta } from '../../src/codecs/formats.js';
import type { Ledger } from '../../src/ledger/Ledger.js';

/** Everything of any party, from the begin. */
export const all = { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) };

class Nothing {
  readonly name = 'nothing';
}
// as its decorator does it, and with what BrowserModule would provide
NgModule({ providers: [ErrorHandler, TestComponentRenderer, { provide: INJECTOR_SCOPE, useValue: 'root' }] })(Nothing);
getTestBed().initTestEnvironment(Nothing, platformCore());

/** The ledger of an application with these providers. There is no page: what needs one is tested in a browser. */
export function ledgerOf(...providers: readonly (Provider | EnvironmentProviders)[]): Ledger {
  TestBed.configureTestingModule({ providers: [...providers] });
  return TestBed.runInInjectionContext(injectLedger);
}
