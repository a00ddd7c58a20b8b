import type { Party } from '../codecs/Party.js';
import type { Signature } from '../codecs/Signature.js';
import { derOfConcat } from './derOfConcat.js';
import { fingerprintOf } from './fingerprintOf.js';
import { keyKind, type KeyKind } from './keyKind.js';
import type { Signer } from './Signer.js';
import { toBase64 } from './toBase64.js';

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
