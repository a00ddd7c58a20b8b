import type { SigningScheme } from './SigningKey.js';

const der = ['SIGNATURE_FORMAT_DER'];

/** The schemes by the name that Node.js has for the type of the key or for its curve. */
export const signingSchemes: ReadonlyMap<string, SigningScheme> = new Map<string, SigningScheme>([
  [
    'ed25519',
    {
      algorithm: 'SIGNING_ALGORITHM_SPEC_ED25519',
      // the raw format is an older name for the same bytes
      formats: ['SIGNATURE_FORMAT_CONCAT', 'SIGNATURE_FORMAT_RAW'],
      digest: null,
    },
  ],
  ['prime256v1', { algorithm: 'SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_256', formats: der, digest: 'sha256' }],
  ['secp256k1', { algorithm: 'SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_256', formats: der, digest: 'sha256' }],
  ['secp384r1', { algorithm: 'SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_384', formats: der, digest: 'sha384' }],
]);
