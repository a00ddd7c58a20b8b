/**
 * The session of a user in a browser: sign-in, renewal of tokens, sign-out, and the network. Needs no other package than
 * `canton-rx`.
 *
 * @module canton-rx/session
 */

export { ledgerSession } from './ledgerSession.js';
export type { LedgerSession, SessionOptions, SessionState } from './SessionState.js';
export { SignedOutError, type AbortedSubmission } from './SignedOutError.js';
