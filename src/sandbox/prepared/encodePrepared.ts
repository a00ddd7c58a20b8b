import type { PreparedTransaction } from '@canton-network/core-ledger-proto';
import type { PreparedBytes } from './PreparedBytes.js';
import type { Vendor } from './Vendor.js';

/** The bytes of a prepared transaction, and their hash by the hashing scheme V2. */
export async function encodePrepared(message: PreparedTransaction, vendor: Vendor): Promise<PreparedBytes> {
  const hash = Buffer.from(await vendor.hashPreparedTransaction(message, 'hex'), 'hex');
  return { bytes: vendor.PreparedTransaction.toBinary(message), hash };
}
