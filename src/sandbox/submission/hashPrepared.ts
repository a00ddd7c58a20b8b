import { createHash } from 'node:crypto';

/** Separates this hash from those made for other purposes. */
const purpose = Buffer.from([0, 0, 0, 48]);

/** What the party signs for a prepared transaction. */
export function hashPrepared(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(purpose).update(bytes).digest();
}
