import type { WireSignature } from './wire/WireUpdate.js';

/**
 * A party hosted on the sandbox, with a key pair that the sandbox generated.
 *
 * @category Sandbox
 */
export interface ExternalParty extends HostedParty {
  /**
   * Signs the `preparedTransactionHash` from a prepare response.
   *
   * @param preparedTransactionHash - the hash in base64
   */
  readonly sign: (preparedTransactionHash: string) => WireSignature;
}

/**
 * A party hosted on the sandbox that signs its submissions itself.
 *
 * @category Sandbox
 */
export interface HostedParty {
  /** The party id: `hint::fingerprint`. */
  readonly party: string;
  /**
   * The fingerprint of the first public key: `1220` followed by a SHA-256 hash in hex. The hash covers the number 12 in
   * four bytes, followed by the raw bytes of an Ed25519 key or the DER bytes of the SubjectPublicKeyInfo of an ECDSA
   * key.
   */
  readonly fingerprint: string;
  /** The fingerprints of all public keys. */
  readonly fingerprints: readonly string[];
  /** The number of keys that must sign a submission. */
  readonly threshold: number;
}

/**
 * The public keys of a party. The caller holds the private keys.
 *
 * @example
 * ```ts
 * import { startSandbox } from 'canton-rx/sandbox';
 *
 * const sandbox = await startSandbox();
 * const { publicKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify']);
 * const { party, fingerprint } = sandbox.externalParty('alice', { publicKey });
 * console.log(party === `alice::${fingerprint}`);
 * await sandbox.close();
 * ```
 * @category Sandbox
 */
export type ExternalPartyOptions =
  | {
      /** The only key of the party. */
      readonly publicKey: PublicKey;
    }
  | {
      /** The keys of the party. The party id contains the fingerprint of the first key. */
      readonly publicKeys: readonly PublicKey[];
      /**
       * The number of keys that must sign a submission.
       *
       * @defaultValue all of them
       */
      readonly threshold?: number;
    };

/**
 * A public key for Ed25519, or for ECDSA on P-256, P-384 or secp256k1: a WebCrypto key, the DER bytes of a
 * SubjectPublicKeyInfo (`spki`), or the 32 raw bytes of an Ed25519 key.
 *
 * @category Sandbox
 */
export type PublicKey = CryptoKey | Uint8Array;
