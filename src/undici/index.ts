/**
 * An HTTP port that takes less time per request than the default one, which uses `fetch`. Needs the package `undici` in
 * addition to `canton-rx`, and runs in Node.js.
 *
 * @example
 * ```ts
 * import { createLedger } from 'canton-rx';
 * import { undiciPort } from 'canton-rx/undici';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575', port: undiciPort() });
 * ledger.ledgerEnd().subscribe((offset) => console.log(`the ledger ends at ${offset}`));
 * ```
 *
 * @module canton-rx/undici
 */

export { undiciPort, type UndiciPortOptions } from './undiciPort.js';
