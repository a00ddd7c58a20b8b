export type Algorithm = 'Ed25519' | 'P-256';

/** A party and its key. The private key can sign in this browser, but cannot be exported. */
export interface Identity {
  readonly party: string;
  readonly hint: string;
  readonly algorithm: Algorithm;
  readonly key: CryptoKeyPair;
}
