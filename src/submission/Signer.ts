import type { ObservableInput } from 'rxjs';
import type { Signature } from '../codecs/ExecuteRequest.js';
import type { PreparedSubmission } from '../codecs/PreparedSubmission.js';
import type { PrepareRequest } from '../codecs/PrepareRequest.js';
import type { Party } from '../codecs/scalars.js';

/**
 * Who signs for a party: a key in the browser ({@link webCryptoSigner}), a wallet, an HSM, a remote service.
 *
 * It is a plain object, so that anything that signs becomes one by writing it down. It sees the hash alone: what the hash
 * stands for is for a {@link Verifier} to say, before.
 *
 * @example
 * ```ts
 * import { generateKeyPairSync, sign } from 'node:crypto';
 * import { from, lastValueFrom } from 'rxjs';
 * import { type Signer } from 'canton-rx';
 *
 * const { privateKey } = generateKeyPairSync('ed25519');
 *
 * const signer: Signer = {
 *   party: 'alice::1220ab',
 *   sign: (hash) =>
 *     Promise.resolve({
 *       format: 'SIGNATURE_FORMAT_CONCAT',
 *       signature: sign(null, hash, privateKey).toString('base64'),
 *       signedBy: '1220ab',
 *       signingAlgorithmSpec: 'SIGNING_ALGORITHM_SPEC_ED25519',
 *     }),
 * };
 *
 * console.log(await lastValueFrom(from(signer.sign(new Uint8Array(32)))));
 * ```
 */
export interface Signer {
  /** The party that the signatures are of. */
  readonly party: Party;
  /**
   * Signs, once per call. An error here is passed on as it is, and nothing is submitted.
   *
   * @param hash - the 32 bytes behind `preparedTransactionHash`. They are the message: an algorithm that hashes its
   * message, as ECDSA does, hashes these bytes once more.
   * @returns one signature, or several by different keys of the party, as its threshold wants
   */
  readonly sign: (hash: Uint8Array) => ObservableInput<Signature | readonly Signature[]>;
}

/**
 * Decides whether a prepared submission may be signed: one that completes, whatever it emits, says yes; an error says no,
 * a {@link VerificationError} for one.
 *
 * The participant that prepares a submission could prepare another one than was asked for, and the party would sign it.
 * `canton-rx/verify` has a verifier that finds out.
 *
 * @param prepared - what the participant answered
 * @param request - what it was asked for
 *
 * @example
 * ```ts
 * import { EMPTY, throwError } from 'rxjs';
 * import { VerificationError, type Verifier } from 'canton-rx';
 *
 * const onlyV2: Verifier = ({ hashingSchemeVersion }) =>
 *   hashingSchemeVersion === 'HASHING_SCHEME_VERSION_V2' ? EMPTY : throwError(() => new VerificationError('scheme', 'not V2'));
 *
 * console.log(typeof onlyV2); // function
 * ```
 */
export type Verifier = (prepared: PreparedSubmission, request: PrepareRequest) => ObservableInput<unknown>;
