import { createPublicKey, KeyObject } from 'node:crypto';
import type { PublicKey } from '../ExternalPartyOptions.js';
import { fingerprintOf } from './fingerprintOf.js';
import type { SigningKey } from './SigningKey.js';
import { signingSchemes } from './signingSchemes.js';

/** What stands before the 32 bytes of an Ed25519 key in its DER form. */
const ed25519Prefix = Buffer.from('302a300506032b6570032100', 'hex');

/** Reads a public key in any of the forms that a caller may have it in. */
export function signingKeyOf(publicKey: PublicKey | KeyObject): SigningKey {
  const key = keyObjectOf(publicKey);
  const scheme = signingSchemes.get(key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType ?? '');
  if (key.type !== 'public' || scheme === undefined) {
    throw new TypeError('a party has public keys of Ed25519, P-256, P-384 or secp256k1');
  }
  const der = key.export({ type: 'spki', format: 'der' });
  // participants went over from raw to DER keys, and Ed25519 keys kept their fingerprints
  const fingerprint = fingerprintOf(key.asymmetricKeyType === 'ed25519' ? der.subarray(-32) : der);
  return { fingerprint, key, scheme };
}

function keyObjectOf(publicKey: PublicKey | KeyObject): KeyObject {
  if (publicKey instanceof KeyObject) return publicKey;
  if (!(publicKey instanceof Uint8Array)) return KeyObject.from(publicKey);
  const der = publicKey.length === 32 ? Buffer.concat([ed25519Prefix, publicKey]) : Buffer.from(publicKey);
  return createPublicKey({ key: der, type: 'spki', format: 'der' });
}
