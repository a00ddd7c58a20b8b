import type { WireSignature } from './wire/WireUpdate.js';

/** A party with a key that the sandbox made, hosted on the sandbox. */
export interface ExternalParty extends HostedParty {
  /**
   * Signs what a prepare answer calls `preparedTransactionHash`.
   *
   * @param preparedTransactionHash - the hash in base64
   */
  readonly sign: (preparedTransactionHash: string) => WireSignature;
}

/** A party that signs its submissions itself, hosted on the sandbox. */
export interface HostedParty {
  /** The party id, `hint::fingerprint`. */
  readonly party: string;
  /**
   * The fingerprint of the public key, of the first one if there are several: `1220` and the SHA-256, in hex, of the
   * purpose 12 in four bytes and the key, which is raw for Ed25519 and the DER bytes of its SubjectPublicKeyInfo for ECDSA.
   */
  readonly fingerprint: string;
  /** The fingerprints of all public keys. */
  readonly fingerprints: readonly string[];
  /** How many of the keys have to sign. */
  readonly threshold: number;
}

/**
 * The key or the keys of a party, which somebody else than the sandbox holds.
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
 */
export type ExternalPartyOptions =
  | {
      /** The one key of the party. */
      readonly publicKey: PublicKey;
    }
  | {
      /** The keys of the party; the first one names it. */
      readonly publicKeys: readonly PublicKey[];
      /** With how many of the keys a submission has to be signed; default with all. */
      readonly threshold?: number;
    };

/**
 * A public key: Ed25519, or ECDSA on P-256, P-384 or secp256k1; as WebCrypto has it, as the DER bytes of a
 * SubjectPublicKeyInfo (`spki`), or as the 32 raw bytes of an Ed25519 key.
 */
export type PublicKey = CryptoKey | Uint8Array;
