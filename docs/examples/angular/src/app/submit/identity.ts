export type Algorithm = 'Ed25519' | 'P-256';

/** A party and its key. The private key cannot be read, by nobody; it can sign, here. */
export interface Identity {
  readonly party: string;
  readonly hint: string;
  readonly algorithm: Algorithm;
  readonly key: CryptoKeyPair;
}
