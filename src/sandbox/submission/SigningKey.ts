import type { KeyObject } from 'node:crypto';

/** A public key of a party, and how signatures with it look. */
export interface SigningKey {
  readonly fingerprint: string;
  readonly key: KeyObject;
  readonly scheme: SigningScheme;
}

/** What goes with a kind of key. */
export interface SigningScheme {
  readonly algorithm: string;
  readonly formats: readonly string[];
  /** The digest that is signed; `null` for a scheme that signs the message itself. */
  readonly digest: string | null;
}
