import type { Metadata } from '@canton-network/core-ledger-proto';
import type { PrepareRequest } from '../codecs/PrepareRequest.js';
import type { Verifier } from '../submission/Signer.js';
import { microsOf } from './arguments.js';
import { checkCommands, type VerifierOptions } from './commands.js';
import { checkHash, decodeTransaction, refusal } from './transaction.js';
import { checkWellFormed } from './wellFormed.js';

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
    const roots = checkWellFormed(transaction, metadata);
    if (isV2) await checkHash({ transaction, metadata }, prepared.preparedTransactionHash);
    checkSubmitter(metadata, request);
    checkCommands(roots, request.commands, packages);
    checkTimes(metadata, request, maxClockSkewMs);
  };

/** Refuses a transaction for other parties, under another command id or on another synchronizer than was asked for. */
function checkSubmitter({ submitterInfo, synchronizerId }: Metadata, request: PrepareRequest): void {
  const given = new Set(submitterInfo?.actAs);
  const asked = new Set(request.actAs);
  if (given.size !== asked.size || [...asked].some((party) => !given.has(party))) {
    throw refusal('parties', 'it acts for other parties', 'actAs');
  }
  if (submitterInfo?.commandId !== request.commandId) {
    throw refusal('parties', 'it is another command', 'commandId');
  }
  if ((request.synchronizerId ?? '') !== '' && synchronizerId !== request.synchronizerId) {
    throw refusal('parties', 'it goes to another synchronizer', 'synchronizerId');
  }
}

/**
 * Refuses a transaction that says it was prepared at another time, or that may be earlier than was asked for. One of the
 * future would be out of its bounds now, and valid when the ledger no longer looks for the same change.
 */
function checkTimes(
  { preparationTime, minLedgerEffectiveTime }: Metadata,
  { minLedgerTime }: PrepareRequest,
  maxClockSkewMs: number,
): void {
  if (Math.abs(Number(preparationTime / 1000n) - Date.now()) > maxClockSkewMs)
    throw refusal('times', 'it was prepared at another time, or the clocks differ');
  const time = minLedgerTime?.time;
  if (time === undefined || 'Empty' in time) return;
  const least = 'MinLedgerTimeAbs' in time ? microsOf(time.MinLedgerTimeAbs.value) : 0n;
  if (least === undefined || minLedgerEffectiveTime === undefined || minLedgerEffectiveTime < least)
    throw refusal('times', 'it may be earlier than was asked for', 'minLedgerTime');
}
