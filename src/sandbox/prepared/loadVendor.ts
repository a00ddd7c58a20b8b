import { Refusal } from '../errors/Refusal.js';
import type { Vendor } from './Vendor.js';

// short: an error of the library quotes 200 characters of it, and the command has to be among them
const missing =
  'The sandbox needs two packages for submissions: ' +
  'npm install --save-dev @canton-network/core-ledger-proto@^1.7.0 @canton-network/core-tx-visualizer@^1.7.0';

/** Loads the vendor's packages when they are needed: they are optional, and all else of the sandbox works without. */
export async function loadVendor(): Promise<Vendor> {
  try {
    // one after the other: the second imports the first, and Jest does not link a module for two at a time
    const { PreparedTransaction } = await import('@canton-network/core-ledger-proto');
    const { hashPreparedTransaction } = await import('@canton-network/core-tx-visualizer');
    return { PreparedTransaction, hashPreparedTransaction };
  } catch {
    throw new Refusal(501, missing);
  }
}
