import type { ObservableInput } from 'rxjs';
import type { Signature } from '../codecs/ExecuteRequest.js';
import type { PreparedSubmission } from '../codecs/PrepareRequest.js';
import type { PrepareRequest } from '../codecs/PrepareRequest.js';
import type { Party } from '../codecs/scalars.js';

/**
 * Signs for a party: with a key in the browser ({@link webCryptoSigner}), a wallet, an HSM or a remote service.
 *
 * A signer is a plain object, so you can write one for any signing method. It receives only the hash: a
 * {@link Verifier} checks beforehand what the hash stands for.
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
 * @category Submission
 */
export interface Signer {
  /** The party that signs. */
  readonly party: Party;
  /**
   * Signs once per call. If it fails, nothing is submitted, and the error is passed on unchanged.
   *
   * @param hash - the 32 bytes of `preparedTransactionHash`. They are the message to sign: an algorithm that hashes its
   * message, such as ECDSA, also hashes these bytes.
   * @returns one signature, or several signatures with different keys of the party if its threshold requires them
   */
  readonly sign: (hash: Uint8Array) => ObservableInput<Signature | readonly Signature[]>;
}

/**
 * Decides whether a prepared submission may be signed. To accept it, the verifier emits `true` and completes. To refuse
 * it, the verifier fails, for example with a {@link VerificationError}. Any other value, and no value at all, refuses it
 * too.
 *
 * Without verification, a participant could prepare a submission other than the requested one, and the party would sign
 * it. `canton-rx/verify` provides a verifier that detects this.
 *
 * @param prepared - the submission that the participant prepared
 * @param request - the request to prepare the submission
 *
 * @example
 * ```ts
 * import { of, throwError } from 'rxjs';
 * import { VerificationError, type Verifier } from 'canton-rx';
 *
 * const onlyV2: Verifier = ({ hashingSchemeVersion }) =>
 *   hashingSchemeVersion === 'HASHING_SCHEME_VERSION_V2' ? of(true) : throwError(() => new VerificationError('scheme', 'not V2'));
 *
 * console.log(typeof onlyV2); // function
 * ```
 * @category Submission
 */
export type Verifier = (prepared: PreparedSubmission, request: PrepareRequest) => ObservableInput<boolean>;
