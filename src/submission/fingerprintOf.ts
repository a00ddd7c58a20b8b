import { keyKind } from './keyKind.js';

/** What Canton hashes before a key, so that hashes for different purposes never meet: 12, in four bytes. */
const purpose = [0, 0, 0, 12];

/** A multihash names its function, SHA-256, and its length, 32 bytes. */
const multihash = '1220';

/**
 * The fingerprint by which the ledger knows a public key, and which ends the name of a party that has it as its own:
 * `1220` and 64 hex digits.
 *
 * Of Ed25519 it is that of the 32 bytes of the key; of P-256 that of its DER `SubjectPublicKeyInfo`, as WebCrypto exports
 * it. Where a key was registered in another form, say with a compressed point, its fingerprint is another one: ask the
 * ledger for it.
 *
 * @param publicKey - of Ed25519 or ECDSA on P-256, extractable
 * @returns rejects with a `TypeError` for any other key, and with WebCrypto's error for one that cannot be exported
 *
 * @example
 * ```ts
 * import { fingerprintOf } from 'canton-rx';
 *
 * const publicKey = await crypto.subtle.importKey('raw', new Uint8Array(32), 'Ed25519', true, ['verify']);
 *
 * console.log(`alice::${await fingerprintOf(publicKey)}`);
 * ```
 */
export async function fingerprintOf(publicKey: CryptoKey): Promise<string> {
  const form = keyKind(publicKey) === 'Ed25519' ? 'raw' : 'spki';
  if (publicKey.type !== 'public') throw new TypeError('the key is not a public one');
  const bytes = new Uint8Array(await crypto.subtle.exportKey(form, publicKey));
  const hash = await crypto.subtle.digest('SHA-256', new Uint8Array([...purpose, ...bytes]));
  return multihash + Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
