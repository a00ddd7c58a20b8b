/**
 * Finds out whether a prepared submission is what was asked for, before it is signed. In browsers and Node.js; needs
 * `@canton-network/core-tx-visualizer` and `@canton-network/core-ledger-proto` beside `canton-rx`.
 *
 * @module canton-rx/verify
 */

export { preparedTransactionVerifier } from './preparedTransactionVerifier.js';
export type { VerifierOptions } from './commands.js';
