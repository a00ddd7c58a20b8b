export type Algorithm = 'Ed25519' | 'P-256';

/** A party that this browser submits for. */
export type Identity = SigningIdentity | HostedIdentity;

/** A party and its key. The private key can sign in this browser, but cannot be exported. */
export interface SigningIdentity {
  readonly party: string;
  readonly hint: string;
  readonly algorithm: Algorithm;
  readonly key: CryptoKeyPair;
}

/** A party without a key: the participant hosts it and signs for it. */
export interface HostedIdentity {
  readonly party: string;
  readonly hint: string;
  readonly key?: undefined;
}

/** What the button for a submission says. */
export const submitText = ({ key }: Identity): string =>
  key === undefined ? 'Submit' : 'Prepare, verify, sign and submit';
