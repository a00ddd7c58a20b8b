import { InjectionToken } from '@angular/core';
import type { Ledger } from '../ledger/Ledger.js';

/**
 * What the ledger of {@link provideLedger} is injected by; `injectLedger()` is shorter. In tests another ledger may be
 * provided under it.
 *
 * @example
 * ```ts
 * import '@angular/compiler'; // outside Angular's own builds
 * import type { Provider } from '@angular/core';
 * import { LEDGER } from 'canton-rx/angular';
 * import { createLedger } from 'canton-rx';
 * import { of } from 'rxjs';
 *
 * const port = () => of({ status: 200, headers: {}, text: '{"offset":42}' });
 * const provider: Provider = { provide: LEDGER, useValue: createLedger({ baseUrl: 'http://ledger.example', port }) };
 * ```
 */
export const LEDGER = new InjectionToken<Ledger>('LEDGER of canton-rx');
