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
