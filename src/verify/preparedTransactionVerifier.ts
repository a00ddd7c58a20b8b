import type { Verifier } from '../submission/Verifier.js';
import { checkCommands } from './checkCommands.js';
import { checkHash } from './checkHash.js';
import { checkSubmitter } from './checkSubmitter.js';
import { checkSound } from './checkSound.js';
import { checkTimes } from './checkTimes.js';
import { decodeTransaction } from './decodeTransaction.js';
import { refusal } from './refusal.js';
import type { VerifierOptions } from './VerifierOptions.js';

/**
 * A verifier that believes nothing of what the participant says: it computes the hash anew from the transaction, and
 * compares the transaction with the request.
 *
 * Accepted is a submission whose hash, of scheme V2, is that of its transaction; which acts for the parties asked for and
 * no other, under the command id asked for, on the synchronizer asked for if any; and whose root nodes are the commands
 * asked for, in their order, with the arguments asked for in every field. What follows from them, the nodes below, is for
 * the ledger's own validation.
 *
 * What cannot be compared is refused: a contract by key, because the transaction does not say the key; an interface by
 * the name of a package that is not in `packages`; a transaction with an `Int` beyond 2^53, because the vendor's library
 * hashes it wrongly.
 *
 * What scheme V2 does not hash is not signed either, and not compared: `maxRecordTime`, and the contents of blobs. Nor is
 * compared which package stands behind a template's name, unless `packages` says it, and how long a `MinLedgerTimeRel` is.
 *
 * @param options - what passes, and what package names mean
 * @returns a verifier; it errors with a `VerificationError`, which names fields and quotes no values
 *
 * @example
 * ```ts
 * import { from, lastValueFrom } from 'rxjs';
 * import { isVerificationError, type PreparedSubmission, type PrepareRequest } from 'canton-rx';
 * import { preparedTransactionVerifier } from 'canton-rx/verify';
 *
 * const request: PrepareRequest = {
 *   commandId: 'c-1',
 *   actAs: ['alice::1220ab'],
 *   commands: [{ CreateCommand: { templateId: '#assets:Main:Asset', createArguments: { owner: 'alice::1220ab' } } }],
 * };
 * const prepared: PreparedSubmission = {
 *   preparedTransaction: 'AAAA',
 *   preparedTransactionHash: 'AAAA',
 *   hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V2',
 * };
 *
 * const verify = preparedTransactionVerifier();
 *
 * await lastValueFrom(from(verify(prepared, request))).catch((error: unknown) => {
 *   console.log(isVerificationError(error) && error.reason);
 * });
 * // => undecodable
 * ```
 */
export const preparedTransactionVerifier =
  ({ unknownScheme = 'refuse', packages = {}, maxClockSkewMs = 3_600_000 }: VerifierOptions = {}): Verifier =>
  async (prepared, request) => {
    const isV2 = prepared.hashingSchemeVersion === 'HASHING_SCHEME_VERSION_V2';
    if (!isV2 && unknownScheme !== 'accept') throw refusal('scheme', 'its hash is built by a scheme that is not known');
    const { transaction, metadata } = decodeTransaction(prepared.preparedTransaction);
    const roots = checkSound(transaction, metadata);
    if (isV2) await checkHash({ transaction, metadata }, prepared.preparedTransactionHash);
    checkSubmitter(metadata, request);
    checkCommands(roots, request.commands, packages);
    checkTimes(metadata, request, maxClockSkewMs);
  };
