import type { ObservableInput } from 'rxjs';
import type { Signature } from '../codecs/ExecuteRequest.js';
import type { PreparedSubmission, PrepareRequest } from '../codecs/SubmissionRequest.js';
import type { Party } from '../codecs/scalars.js';
import { toBase64, toHex } from '../codecs/internal/field.js';

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

/**
 * A key of the platform's WebCrypto. The types of Node.js have no global `CryptoKey`.
 *
 * @inline
 */
type CryptoKey = Parameters<typeof crypto.subtle.sign>[1];

/**
 * Options of {@link webCryptoSigner}.
 *
 * @inline
 */
interface WebCryptoSignerOptions {
  /** The party that the key signs for. */
  readonly party: Party;
  /** The key pair for Ed25519 or ECDSA on P-256, such as a `CryptoKeyPair`. The private key need not be extractable. */
  readonly key: {
    /** The private key. It must have the usage `sign`. */
    readonly privateKey: CryptoKey;
    /** The public key. It must be extractable, unless you pass `fingerprint`. */
    readonly publicKey: CryptoKey;
  };
  /**
   * The fingerprint that identifies the key on the ledger.
   *
   * @defaultValue {@link fingerprintOf} the public key
   */
  readonly fingerprint?: string;
}

/** The kinds of keys that both WebCrypto and the ledger support. */
type KeyKind = 'Ed25519' | 'P-256';

/** The ledger's names for the format and the algorithm of signatures, by kind of key. */
const signatureForms: Readonly<Record<KeyKind, Pick<Signature, 'format' | 'signingAlgorithmSpec'>>> = {
  Ed25519: { format: 'SIGNATURE_FORMAT_CONCAT', signingAlgorithmSpec: 'SIGNING_ALGORITHM_SPEC_ED25519' },
  'P-256': { format: 'SIGNATURE_FORMAT_DER', signingAlgorithmSpec: 'SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_256' },
};

/**
 * Creates a signer from a WebCrypto key pair, for browsers and Node.js: Ed25519, or ECDSA on P-256 with SHA-256.
 *
 * The private key need not be extractable.
 *
 * @param options - the party, its key pair, and the fingerprint if it cannot be computed
 * @throws TypeError synchronously, if the algorithm of a key is not supported, if the keys have different algorithms,
 * if the private key cannot sign, or if the public key is not extractable and you pass no fingerprint
 *
 * @example
 * ```ts
 * import { from, lastValueFrom } from 'rxjs';
 * import { fingerprintOf, webCryptoSigner } from 'canton-rx';
 *
 * const key = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify']);
 * const signer = webCryptoSigner({ party: `alice::${await fingerprintOf(key.publicKey)}`, key });
 *
 * console.log(await lastValueFrom(from(signer.sign(new Uint8Array(32)))));
 * ```
 * @category Submission
 */
export function webCryptoSigner({ party, key, fingerprint }: WebCryptoSignerOptions): Signer {
  const { privateKey, publicKey } = key;
  const kind = keyKind(privateKey);
  if (keyKind(publicKey) !== kind) throw new TypeError('the keys are for different algorithms');
  if (!privateKey.usages.includes('sign')) throw new TypeError("the private key must have the usage 'sign'");
  if (fingerprint === undefined && !publicKey.extractable) {
    throw new TypeError('the public key is not extractable: pass its fingerprint');
  }
  return {
    party,
    sign: async (hash): Promise<Signature> => ({
      ...signatureForms[kind],
      signature: toBase64(await sign(kind, privateKey, new Uint8Array(hash))),
      signedBy: fingerprint ?? (await fingerprintOf(publicKey)),
    }),
  };
}

async function sign(kind: KeyKind, key: CryptoKey, hash: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  if (kind === 'Ed25519') return new Uint8Array(await crypto.subtle.sign('Ed25519', key, hash));
  return toDer(new Uint8Array(await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, hash)));
}

/** Tags of ASN.1. */
const sequence = 0x30;
const integer = 0x02;

/**
 * Converts an ECDSA signature on a curve of up to 384 bits to DER. WebCrypto concatenates the two numbers (IEEE P1363).
 */
function toDer(signature: Uint8Array): Uint8Array<ArrayBuffer> {
  const half = signature.length / 2;
  const numbers = [...derInteger(signature.subarray(0, half)), ...derInteger(signature.subarray(half))];
  return new Uint8Array([sequence, numbers.length, ...numbers]);
}

/** Encodes an integer without leading zeros, except for one that keeps it positive. */
function derInteger(bytes: Uint8Array): readonly number[] {
  const first = bytes.findIndex((byte) => byte !== 0);
  const shortest = first === -1 ? [0] : [...bytes.subarray(first)];
  const content = (shortest[0] ?? 0) < 0x80 ? shortest : [0, ...shortest];
  return [integer, content.length, ...content];
}

/** The prefix that Canton hashes before a public key: the purpose of the hash, the number 12 in four bytes. */
const purpose = [0, 0, 0, 12];

/** The prefix of a multihash: its function, SHA-256, and its length, 32 bytes. */
const multihash = '1220';

/**
 * Computes the fingerprint that identifies a public key on the ledger: `1220` followed by 64 hex digits. The id of an
 * external party ends with the fingerprint of its key.
 *
 * For Ed25519, it is the fingerprint of the key's 32 bytes. For P-256, it is the fingerprint of the key's DER
 * `SubjectPublicKeyInfo`, as WebCrypto exports it. A key that was registered in another form, such as with a compressed
 * point, has a different fingerprint; read that from the ledger.
 *
 * @param publicKey - an extractable key for Ed25519 or ECDSA on P-256
 * @returns a Promise of the fingerprint. It rejects with a `TypeError` for any other key, and with WebCrypto's error if
 * the key cannot be exported
 *
 * @example
 * ```ts
 * import { fingerprintOf } from 'canton-rx';
 *
 * const publicKey = await crypto.subtle.importKey('raw', new Uint8Array(32), 'Ed25519', true, ['verify']);
 *
 * console.log(`alice::${await fingerprintOf(publicKey)}`);
 * ```
 * @category Submission
 */
export async function fingerprintOf(publicKey: CryptoKey): Promise<string> {
  const form = keyKind(publicKey) === 'Ed25519' ? 'raw' : 'spki';
  if (publicKey.type !== 'public') throw new TypeError('the key must be a public key');
  const bytes = new Uint8Array(await crypto.subtle.exportKey(form, publicKey));
  const hash = await crypto.subtle.digest('SHA-256', new Uint8Array([...purpose, ...bytes]));
  return multihash + toHex(new Uint8Array(hash));
}

/** Returns the kind of a key. Throws a `TypeError` for any other key. */
function keyKind({ algorithm }: CryptoKey): KeyKind {
  if (algorithm.name === 'Ed25519') return 'Ed25519';
  if (algorithm.name === 'ECDSA' && 'namedCurve' in algorithm && algorithm.namedCurve === 'P-256') return 'P-256';
  throw new TypeError('the key must be for Ed25519 or ECDSA on P-256');
}
