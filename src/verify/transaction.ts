import {
  type Create,
  type DamlTransaction,
  type DamlTransaction_Node,
  type Exercise,
  type Metadata,
  PreparedTransaction,
} from '@canton-network/core-ledger-proto';
import { hashPreparedTransaction } from '@canton-network/core-tx-visualizer';
import { VerificationError, type VerificationReason } from '../errors/submission.js';
import { fromBase64 } from '../submission/submit.js';

/** The node of a command: what it creates or exercises. */
export type RootNode =
  { readonly kind: 'create'; readonly create: Create } | { readonly kind: 'exercise'; readonly exercise: Exercise };

/** A node of any kind; the package does not export its type. */
export type NodeType = Extract<DamlTransaction_Node['versionedNode'], { oneofKind: 'v1' }>['v1']['nodeType'];

/** Why a submission must not be signed. */
export const refusal = (reason: VerificationReason, explanation: string, path?: string): VerificationError =>
  new VerificationError(reason, explanation, path);

/** A prepared transaction with both of its parts. */
interface Decoded {
  readonly transaction: DamlTransaction;
  readonly metadata: Metadata;
}

/** In digits of base64. A participant takes no larger message than 10 MiB by default. */
const most = 16 * 1024 * 1024;

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
