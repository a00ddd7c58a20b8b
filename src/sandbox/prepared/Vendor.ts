import type { PreparedTransaction } from '@canton-network/core-ledger-proto';
import type { hashPreparedTransaction } from '@canton-network/core-tx-visualizer';

/** What the vendor's packages do here: the form of a prepared transaction, and its hash. */
export interface Vendor {
  readonly PreparedTransaction: typeof PreparedTransaction;
  readonly hashPreparedTransaction: typeof hashPreparedTransaction;
}
