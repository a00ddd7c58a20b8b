/**
 * Checks before signing that a prepared submission matches its request. For browsers and Node.js. Requires the packages
 * `@canton-network/core-tx-visualizer` and `@canton-network/core-ledger-proto`.
 *
 * @module canton-rx/verify
 */

import type { Metadata } from '@canton-network/core-ledger-proto';
import { checkPositive } from '../codecs/internal/numbers.js';
import type { PrepareRequest } from '../codecs/SubmissionRequest.js';
import type { VerificationError } from '../errors/submission.js';
import type { Verifier } from '../submission/Signer.js';
import { checkCommands, type VerifierOptions } from './commands.js';
import { parseMicros } from './scalars.js';
import { checkHash, decodeTransaction, refusal } from './transaction.js';
import { checkWellFormed } from './wellFormed.js';

export type { VerifierOptions } from './commands.js';

/**
 * Creates a verifier that does not trust the participant: it recomputes the hash from the transaction, and compares the
 * transaction with the request.
 *
 * It accepts a submission if all of these are true:
 *
 * - Its hash, of scheme V2, is the hash of its transaction.
 * - It acts for exactly the requested parties, with the requested command id, and on the requested synchronizer if the
 *   request names one. The transaction may name any physical synchronizer of it.
 * - Its root nodes are the requested commands in order, with the requested arguments in every field. The ledger
 *   validates the nodes below them.
 *
 * It rejects what it cannot compare:
 *
 * - a contract by key, because the transaction does not contain the key
 * - an interface by a package name that is not in `packages`
 * - a transaction with an `Int` beyond 2^53 - 1, because the vendor's library hashes it incorrectly; the error names the
 *   field if the `Int` is an argument of a command
 *
 * It does not compare:
 *
 * - `maxRecordTime` and the contents of blobs, because scheme V2 does not hash them, so the signature does not cover
 *   them
 * - the duration of a `MinLedgerTimeRel`: it checks that the transaction has an earliest ledger time
 * - the package id of a template that a command names by package name, unless `packages` lists that name. Therefore,
 *   `packageIdSelectionPreference` has no effect on it
 * - the synchronizer, if the request names none
 * - `userId`, `readAs`, `disclosedContracts`, `prefetchContractKeys` and `tapsMaxPasses`, which the transaction does not
 *   contain: they say how the participant prepares it
 *
 * @param options - the tolerances, and the ids of packages by name
 * @throws TypeError if `maxClockSkewMs` is not a positive number
 * @returns a verifier that fails with a `VerificationError`, which names fields but quotes no values
 *
 * @example
 * ```ts
 * import { from, lastValueFrom } from 'rxjs';
 * import { type PreparedSubmission, type PrepareRequest, isLedgerError } from 'canton-rx';
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
 *   console.log(isLedgerError(error, 'VerificationError') && error.reason);
 * });
 * // => undecodable
 * ```
 * @category Verification
 */
export function preparedTransactionVerifier({
  unknownScheme = 'refuse',
  packages = {},
  maxClockSkewMs = 3_600_000,
}: VerifierOptions = {}): Verifier {
  checkPositive({ maxClockSkewMs });
  return async (prepared, request) => {
    const isV2 = prepared.hashingSchemeVersion === schemeV2;
    if (!isV2 && unknownScheme !== 'accept') throw refuseScheme(prepared.hashingSchemeVersion);
    const { transaction, metadata } = decodeTransaction(prepared.preparedTransaction);
    const { roots, hasLargeInt } = checkWellFormed(transaction, metadata);
    if (hasLargeInt) {
      // names the field if the Int is an argument
      checkCommands(roots, request.commands, packages);
      throw refusal('hash', 'it contains an Int beyond 2^53 - 1, which cannot be verified');
    }
    if (isV2) await checkHash({ transaction, metadata }, prepared.preparedTransactionHash);
    checkSubmitter(metadata, request);
    checkCommands(roots, request.commands, packages);
    checkTimes(metadata, request, maxClockSkewMs);
    return true;
  };
}

const schemeV2 = 'HASHING_SCHEME_VERSION_V2';

/** The schemes of newer releases. The text of any other scheme comes from the participant, so an error must not quote it. */
const newerSchemes: readonly string[] = ['HASHING_SCHEME_VERSION_V3', 'HASHING_SCHEME_VERSION_V4'];

function refuseScheme(scheme: string): VerificationError {
  const what = newerSchemes.includes(scheme) ? `a hash of ${scheme}` : 'a hash of this scheme';
  return refusal('scheme', `${what} cannot be verified; prepare with the hashingSchemeVersion ${schemeV2}`);
}

/** Throws if the transaction acts for other parties, or has another command id or synchronizer. */
function checkSubmitter({ submitterInfo, synchronizerId }: Metadata, request: PrepareRequest): void {
  const given = new Set(submitterInfo?.actAs);
  const requested = new Set(request.actAs);
  if (given.size !== requested.size || [...requested].some((party) => !given.has(party))) {
    throw refusal('parties', 'it acts for other parties', 'actAs');
  }
  if (submitterInfo?.commandId !== request.commandId) {
    throw refusal('parties', 'its command id differs', 'commandId');
  }
  if (!isOnSynchronizer(synchronizerId, request.synchronizerId ?? '')) {
    throw refusal('parties', 'its synchronizer differs', 'synchronizerId');
  }
}

/**
 * Whether a transaction is for the requested synchronizer, or the request names none. A participant of 3.5 names the
 * physical synchronizer, which is the logical id of the request, then the protocol version and a serial number:
 * `name::1220…::35-0`.
 */
const isOnSynchronizer = (given: string, requested: string): boolean =>
  requested === '' ||
  given === requested ||
  (given.startsWith(`${requested}::`) && /^[a-z0-9]+-\d+$/.test(given.slice(requested.length + 2)));

/**
 * Throws if the preparation time is far from the local clock, or if the ledger time may be earlier than requested. A
 * transaction with a preparation time in the future becomes valid only when the ledger no longer detects the duplicate.
 */
function checkTimes(
  { preparationTime, minLedgerEffectiveTime }: Metadata,
  { minLedgerTime }: PrepareRequest,
  maxClockSkewMs: number,
): void {
  if (Math.abs(Number(preparationTime / 1000n) - Date.now()) > maxClockSkewMs)
    throw refusal('times', 'its preparation time is far from the local clock');
  const time = minLedgerTime?.time;
  if (time == null || 'Empty' in time) return;
  const earliest = 'MinLedgerTimeAbs' in time ? parseMicros(time.MinLedgerTimeAbs.value) : 0n;
  if (earliest === undefined || minLedgerEffectiveTime === undefined || minLedgerEffectiveTime < earliest)
    throw refusal('times', 'its ledger time may be earlier than requested', 'minLedgerTime');
}
