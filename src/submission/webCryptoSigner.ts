import type { Signature } from '../codecs/ExecuteRequest.js';
import type { Party } from '../codecs/scalars.js';
import type { Signer } from './Signer.js';

/** How a key of WebCrypto signs for a party. */
export interface WebCryptoSignerOptions {
  /** The party that the key signs for. */
  readonly party: Party;
  /** The key pair, of Ed25519 or of ECDSA on P-256: a `CryptoKeyPair`, for one. The private key need not be extractable. */
  readonly key: {
    /** Signs; with the usage `sign`. */
    readonly privateKey: CryptoKey;
    /** Is extractable, unless `fingerprint` is given. */
    readonly publicKey: CryptoKey;
  };
  /**
   * The fingerprint by which the ledger knows the key.
   *
   * @defaultValue {@link fingerprintOf} the public key
   */
  readonly fingerprint?: string;
}

/** The kinds of keys that both WebCrypto and the ledger know. */
type KeyKind = 'Ed25519' | 'P-256';

/** What the ledger calls the signatures of a kind of key. */
const forms: Readonly<Record<KeyKind, Pick<Signature, 'format' | 'signingAlgorithmSpec'>>> = {
  Ed25519: { format: 'SIGNATURE_FORMAT_CONCAT', signingAlgorithmSpec: 'SIGNING_ALGORITHM_SPEC_ED25519' },
  'P-256': { format: 'SIGNATURE_FORMAT_DER', signingAlgorithmSpec: 'SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_256' },
};

/**
 * A signer with a key of WebCrypto, in browsers and in Node.js: Ed25519, or ECDSA on P-256 with SHA-256.
 *
 * The key stays where it is; one that was made not extractable signs as well.
 *
 * @param options - the party, its key pair, and the fingerprint where it cannot be computed
 * @throws `TypeError` at once where the pair is of another algorithm or mixed, where the private key does not sign, and
 * where the public key is not extractable and no fingerprint is given
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
 */
export function webCryptoSigner({ party, key, fingerprint }: WebCryptoSignerOptions): Signer {
  const { privateKey, publicKey } = key;
  const kind = keyKind(privateKey);
  if (keyKind(publicKey) !== kind) throw new TypeError('the keys are not a pair');
  if (!privateKey.usages.includes('sign')) throw new TypeError('the private key does not sign');
  if (fingerprint === undefined && !publicKey.extractable) {
    throw new TypeError('the public key is not extractable: give its fingerprint');
  }
  return {
    party,
    sign: async (hash): Promise<Signature> => ({
      ...forms[kind],
      signature: toBase64(await signed(kind, privateKey, new Uint8Array(hash))),
      signedBy: fingerprint ?? (await fingerprintOf(publicKey)),
    }),
  };
}

async function signed(kind: KeyKind, key: CryptoKey, hash: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  if (kind === 'Ed25519') return new Uint8Array(await crypto.subtle.sign('Ed25519', key, hash));
  return derOfConcat(new Uint8Array(await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, hash)));
}

/** The tags of ASN.1. */
const sequence = 0x30;

/**
 * An ECDSA signature on a curve of up to 384 bits in DER, from the two numbers side by side as WebCrypto gives it (IEEE
 * P1363).
 */
export function derOfConcat(concat: Uint8Array): Uint8Array<ArrayBuffer> {
  const half = concat.length / 2;
  const numbers = [...numberOf(concat.subarray(0, half)), ...numberOf(concat.subarray(half))];
  return new Uint8Array([sequence, numbers.length, ...numbers]);
}

const integer = 0x02;

/** As short as can be, but with a zero in front where the first bit would make the number negative. */
function numberOf(bytes: Uint8Array): readonly number[] {
  const first = bytes.findIndex((byte) => byte !== 0);
  const shortest = first === -1 ? [0] : [...bytes.subarray(first)];
  const content = (shortest[0] ?? 0) < 0x80 ? shortest : [0, ...shortest];
  return [integer, content.length, ...content];
}

/** What Canton hashes before a key, so that hashes for different purposes never meet: 12, in four bytes. */
const purpose = [0, 0, 0, 12];

/** A multihash names its function, SHA-256, and its length, 32 bytes. */
const multihash = '1220';

/**
 * The fingerprint by which the ledger knows a public key, and which ends the name of a party that has it as its own:
 * `1220` and 64 hex digits.
 *
 * Of Ed25519 it is that of the 32 bytes of the key; of P-256 that of its DER `SubjectPublicKeyInfo`, as WebCrypto exports
 * it. Where a key was registered in another form, say with a compressed point, its fingerprint is another one: ask the
 * ledger for it.
 *
 * @param publicKey - of Ed25519 or ECDSA on P-256, extractable
 * @returns rejects with a `TypeError` for any other key, and with WebCrypto's error for one that cannot be exported
 *
 * @example
 * ```ts
 * import { fingerprintOf } from 'canton-rx';
 *
 * const publicKey = await crypto.subtle.importKey('raw', new Uint8Array(32), 'Ed25519', true, ['verify']);
 *
 * console.log(`alice::${await fingerprintOf(publicKey)}`);
 * ```
 */
export async function fingerprintOf(publicKey: CryptoKey): Promise<string> {
  const form = keyKind(publicKey) === 'Ed25519' ? 'raw' : 'spki';
  if (publicKey.type !== 'public') throw new TypeError('the key is not a public one');
  const bytes = new Uint8Array(await crypto.subtle.exportKey(form, publicKey));
  const hash = await crypto.subtle.digest('SHA-256', new Uint8Array([...purpose, ...bytes]));
  return multihash + Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Bytes as standard, padded base64. A byte at a time: the arguments of one call would be too many for a large message. */
export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** The kind of a key; a `TypeError` for any that does not fit. */
function keyKind({ algorithm }: CryptoKey): KeyKind {
  if (algorithm.name === 'Ed25519') return 'Ed25519';
  if (algorithm.name === 'ECDSA' && 'namedCurve' in algorithm && algorithm.namedCurve === 'P-256') return 'P-256';
  throw new TypeError('the key is neither of Ed25519 nor of ECDSA on P-256');
}
