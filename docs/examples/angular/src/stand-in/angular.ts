import { inject, InjectionToken, makeEnvironmentProviders, type EnvironmentProviders } from '@angular/core';
import { createLedger, type Ledger, type LedgerOptions } from 'canton-rx';

export const LEDGER = new InjectionToken<Ledger>('LEDGER');
export const injectLedger = (): Ledger => inject(LEDGER);
export const provideLedger = (options: LedgerOptions | (() => LedgerOptions)): EnvironmentProviders =>
  makeEnvironmentProviders([
    { provide: LEDGER, useFactory: () => createLedger(typeof options === 'function' ? options() : options) },
  ]);
