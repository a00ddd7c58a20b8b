import { fingerprintOf } from 'canton-rx';
import type { Algorithm, SigningIdentity } from './identity';

const algorithms = { Ed25519: { name: 'Ed25519' }, 'P-256': { name: 'ECDSA', namedCurve: 'P-256' } } as const;

/** Creates a key in this browser, and the id of its party. */
export async function makeIdentity(hint: string, algorithm: Algorithm): Promise<SigningIdentity> {
  const key = await crypto.subtle.generateKey(algorithms[algorithm], false, ['sign', 'verify']);
  if (!('privateKey' in key)) throw new TypeError(`${algorithm} makes no pair of keys here`);
  return { hint, algorithm, key, party: `${hint}::${await fingerprintOf(key.publicKey)}` };
}

/** The public key in the format of participants: DER in base64. */
export async function publicKeyOf({ key }: SigningIdentity): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.exportKey('spki', key.publicKey));
  return btoa(String.fromCharCode(...bytes));
}
