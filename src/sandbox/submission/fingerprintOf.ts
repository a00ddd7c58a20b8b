import { createHash } from 'node:crypto';

/** What Canton hashes before a key, so that hashes for different purposes never meet. */
const purpose = Buffer.from([0, 0, 0, 12]);

/** The fingerprint of a public key: the multihash of its bytes. */
export function fingerprintOf(publicKey: Uint8Array): string {
  return `1220${createHash('sha256').update(purpose).update(publicKey).digest('hex')}`;
}
