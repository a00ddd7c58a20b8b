import { refused } from '../errors/refused.js';
import type { Prepared } from './Prepared.js';
import { readPrepared } from './readPrepared.js';
import type { Vendor } from './Vendor.js';

interface Decoded {
  readonly prepared: Prepared;
  /** Computed from the bytes: what the client believes it to be does not matter. */
  readonly hash: Buffer;
}

/** Reads the bytes of a prepared transaction back. */
export async function decodePrepared(bytes: Uint8Array, vendor: Vendor): Promise<Decoded> {
  try {
    const message = vendor.PreparedTransaction.fromBinary(bytes);
    const prepared = readPrepared(message);
    return { prepared, hash: Buffer.from(await vendor.hashPreparedTransaction(message, 'hex'), 'hex') };
  } catch {
    throw refused('INVALID_ARGUMENT', 'Cannot parse prepared_transaction');
  }
}
