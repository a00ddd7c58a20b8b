import type { Ledger } from './Ledger.js';
import { ledgerOf } from './ledgerOf.js';
import type { LedgerOptions } from './LedgerOptions.js';
import { serviceOf } from './serviceOf.js';

/**
 * The ledger of the participant at an address. Sends nothing by itself.
 *
 * @throws TypeError for an address that is no URL
 * @example
 * ```ts
 * import { createLedger } from 'canton-rx';
 *
 * const ledger = createLedger({
 *   baseUrl: 'http://127.0.0.1:7575',
 *   token: () => Promise.resolve('a-token-of-a-few-minutes'),
 * });
 * ledger.ledgerEnd().subscribe((offset) => {
 *   console.log(`the ledger ends at ${offset}`);
 * });
 * ```
 */
export function createLedger(options: LedgerOptions): Ledger {
  return ledgerOf(serviceOf(options), options.retry);
}
