import { inject } from '@angular/core';
import type { Ledger } from '../ledger/Ledger.js';
import { LEDGER } from './LEDGER.js';

/**
 * The ledger that {@link provideLedger} provides. To be called where `inject()` can be: in a constructor, in the
 * initializer of a field, in a factory.
 *
 * @throws Angular's error NG0201 where none is provided, and NG0203 where nothing can be injected
 * @example
 * ```ts
 * import '@angular/compiler'; // outside Angular's own builds
 * import { toSignal } from '@angular/core/rxjs-interop';
 * import { injectLedger } from 'canton-rx/angular';
 *
 * class Status {
 *   readonly end = toSignal(injectLedger().ledgerEnd());
 * }
 * ```
 */
export const injectLedger = (): Ledger => inject(LEDGER);
