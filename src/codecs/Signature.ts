import type * as t from 'io-ts';
import { Base64 } from './Base64.js';
import { exact } from './internal/exact.js';
import { oneOfStrings } from './internal/oneOfStrings.js';
import { text } from './internal/text.js';

/** How the bytes of a signature are to be read: `CONCAT` for Ed25519, `DER` for ECDSA; `RAW` is the former `CONCAT`. */
export type SignatureFormat =
  | 'SIGNATURE_FORMAT_UNSPECIFIED'
  | 'SIGNATURE_FORMAT_RAW'
  | 'SIGNATURE_FORMAT_DER'
  | 'SIGNATURE_FORMAT_CONCAT'
  | 'SIGNATURE_FORMAT_SYMBOLIC';

/** By which algorithm a signature was made. ML-DSA-65 since 3.6. */
export type SigningAlgorithmSpec =
  | 'SIGNING_ALGORITHM_SPEC_UNSPECIFIED'
  | 'SIGNING_ALGORITHM_SPEC_ED25519'
  | 'SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_256'
  | 'SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_384'
  | 'SIGNING_ALGORITHM_SPEC_ML_DSA_65';

/** A signature over the hash of a prepared transaction. */
export interface Signature {
  /** How the bytes are to be read. */
  readonly format: SignatureFormat;
  /** The signature. */
  readonly signature: Base64;
  /** The fingerprint of the key, `1220` and 64 hex digits. */
  readonly signedBy: string;
  /** By which algorithm. */
  readonly signingAlgorithmSpec: SigningAlgorithmSpec;
}

/** Codec of `Signature`. */
export const Signature: t.Type<Signature, unknown> = exact<Signature>('Signature', {
  format: oneOfStrings<SignatureFormat>(
    'SignatureFormat',
    'SIGNATURE_FORMAT_UNSPECIFIED',
    'SIGNATURE_FORMAT_RAW',
    'SIGNATURE_FORMAT_DER',
    'SIGNATURE_FORMAT_CONCAT',
    'SIGNATURE_FORMAT_SYMBOLIC',
  ),
  signature: Base64,
  signedBy: text,
  signingAlgorithmSpec: oneOfStrings<SigningAlgorithmSpec>(
    'SigningAlgorithmSpec',
    'SIGNING_ALGORITHM_SPEC_UNSPECIFIED',
    'SIGNING_ALGORITHM_SPEC_ED25519',
    'SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_256',
    'SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_384',
    'SIGNING_ALGORITHM_SPEC_ML_DSA_65',
  ),
});
