import { type DamlTransaction, type Metadata, PreparedTransaction } from '@canton-network/core-ledger-proto';
import { fromBase64 } from '../submission/fromBase64.js';
import { refusal } from './refusal.js';

/** In digits of base64. A participant takes no larger message than 10 MiB by default. */
const most = 16 * 1024 * 1024;

/** A prepared transaction with both of its parts. */
export interface Decoded {
  readonly transaction: DamlTransaction;
  readonly metadata: Metadata;
}

/** Reads a prepared transaction. Everything that follows, the hash as well, is of what was read, not of the bytes. */
export function decodeTransaction(base64: string): Decoded {
  if (base64.length > most) throw refusal('undecodable', 'it is too large');
  const { transaction, metadata } = read(base64);
  if (transaction === undefined || metadata === undefined) throw refusal('undecodable', 'a part of it is missing');
  return { transaction, metadata };
}

function read(base64: string): PreparedTransaction {
  try {
    return PreparedTransaction.fromBinary(fromBase64(base64), { readUnknownField: false });
  } catch {
    // the library quotes what it has read, and nested too deeply it overflows the stack
    throw refusal('undecodable', 'it is not a prepared transaction');
  }
}
