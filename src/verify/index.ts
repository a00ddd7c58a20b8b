/**
 * Checks before signing that a prepared submission matches its request. For browsers and Node.js. Requires the packages
 * `@canton-network/core-tx-visualizer` and `@canton-network/core-ledger-proto`.
 *
 * @module canton-rx/verify
 */

export { preparedTransactionVerifier } from './preparedTransactionVerifier.js';
export type { VerifierOptions } from './commands.js';
