/**
 * Checks before signing that a prepared submission is what the request asks for. For browsers and Node.js; requires the
 * packages `@canton-network/core-tx-visualizer` and `@canton-network/core-ledger-proto`.
 *
 * @module canton-rx/verify
 */

export { preparedTransactionVerifier } from './preparedTransactionVerifier.js';
export type { VerifierOptions } from './commands.js';
