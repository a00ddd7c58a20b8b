import { hashPreparedTransaction } from '@canton-network/core-tx-visualizer';
import { fromBase64 } from '../submission/fromBase64.js';
import type { Decoded } from './decodeTransaction.js';
import { refusal } from './refusal.js';

/** Refuses a hash that is not the one of the transaction, by scheme V2. */
export async function checkHash(decoded: Decoded, given: string): Promise<void> {
  const [computed, claimed] = [fromBase64(await hashOf(decoded)), bytesOf(given)];
  // the bytes, not their base64, of which the last digit can be written in several ways
  if (claimed.length !== computed.length || claimed.some((byte, index) => byte !== computed[index])) {
    throw refusal('hash', 'its hash is that of another transaction');
  }
}

async function hashOf(decoded: Decoded): Promise<string> {
  try {
    return await hashPreparedTransaction(decoded, 'base64');
  } catch {
    // the library quotes what it cannot hash
    throw refusal('hash', 'it cannot be hashed');
  }
}

function bytesOf(base64: string): Uint8Array {
  try {
    return fromBase64(base64);
  } catch {
    throw refusal('hash', 'its hash is no base64');
  }
}
