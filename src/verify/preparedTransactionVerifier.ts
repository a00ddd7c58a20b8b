import type { Metadata } from '@canton-network/core-ledger-proto';
import type { PrepareRequest } from '../codecs/PrepareRequest.js';
import type { Verifier } from '../submission/Signer.js';
import { checkCommands, type VerifierOptions } from './commands.js';
import { parseMicros } from './scalars.js';
import { checkHash, decodeTransaction, refusal } from './transaction.js';
import { checkWellFormed } from './wellFormed.js';

/**
 * Creates a verifier that does not trust the participant: it recomputes the hash from the transaction, and compares the
 * transaction with the request.
 *
 * It accepts a submission whose hash, of scheme V2, is that of its transaction; that acts for exactly the requested parties,
 * with the requested command id and on the requested synchronizer, if there is one; and whose root nodes are the requested
 * commands in their order, with the requested arguments in every field. The nodes below them are validated by the ledger.
 *
 * It rejects what cannot be compared: a contract by key, because the transaction does not contain the key; an interface by
 * the name of a package that is not in `packages`; a transaction with an `Int` beyond 2^53, because the vendor's library
 * hashes it incorrectly.
 *
 * It does not compare what scheme V2 does not hash and the signature therefore does not cover: `maxRecordTime` and the
 * contents of blobs. Nor does it compare the package of a template's name, unless `packages` lists it, and the duration of
 * a `MinLedgerTimeRel`.
 *
 * @param options - the tolerances, and the meaning of package names
 * @returns a verifier that errors with a `VerificationError`, which names fields and quotes no values
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
 * @category Verification
 */
export const preparedTransactionVerifier =
  ({ unknownScheme = 'refuse', packages = {}, maxClockSkewMs = 3_600_000 }: VerifierOptions = {}): Verifier =>
  async (prepared, request) => {
    const isV2 = prepared.hashingSchemeVersion === 'HASHING_SCHEME_VERSION_V2';
    if (!isV2 && unknownScheme !== 'accept') throw refusal('scheme', 'its hashing scheme is not supported');
    const { transaction, metadata } = decodeTransaction(prepared.preparedTransaction);
    const roots = checkWellFormed(transaction, metadata);
    if (isV2) await checkHash({ transaction, metadata }, prepared.preparedTransactionHash);
    checkSubmitter(metadata, request);
    checkCommands(roots, request.commands, packages);
    checkTimes(metadata, request, maxClockSkewMs);
  };

/** Throws for a transaction of other parties, with another command id or on another synchronizer. */
function checkSubmitter({ submitterInfo, synchronizerId }: Metadata, request: PrepareRequest): void {
  const given = new Set(submitterInfo?.actAs);
  const requested = new Set(request.actAs);
  if (given.size !== requested.size || [...requested].some((party) => !given.has(party))) {
    throw refusal('parties', 'it acts for other parties', 'actAs');
  }
  if (submitterInfo?.commandId !== request.commandId) {
    throw refusal('parties', 'its command id differs', 'commandId');
  }
  if ((request.synchronizerId ?? '') !== '' && synchronizerId !== request.synchronizerId) {
    throw refusal('parties', 'its synchronizer differs', 'synchronizerId');
  }
}

/**
 * Throws for a preparation time far from the local clock, and for a ledger time that may be earlier than requested. A
 * transaction prepared in the future is outside its bounds now, and valid when the ledger no longer looks for the same change.
 */
function checkTimes(
  { preparationTime, minLedgerEffectiveTime }: Metadata,
  { minLedgerTime }: PrepareRequest,
  maxClockSkewMs: number,
): void {
  if (Math.abs(Number(preparationTime / 1000n) - Date.now()) > maxClockSkewMs)
    throw refusal('times', 'its preparation time is far from the local clock');
  const time = minLedgerTime?.time;
  if (time === undefined || 'Empty' in time) return;
  const earliest = 'MinLedgerTimeAbs' in time ? parseMicros(time.MinLedgerTimeAbs.value) : 0n;
  if (earliest === undefined || minLedgerEffectiveTime === undefined || minLedgerEffectiveTime < earliest)
    throw refusal('times', 'its ledger time may be earlier than requested', 'minLedgerTime');
}
