import {
  type Create,
  type DamlTransaction,
  type DamlTransaction_Node,
  type Exercise,
  type Metadata,
  PreparedTransaction,
} from '@canton-network/core-ledger-proto';
import { hashPreparedTransaction } from '@canton-network/core-tx-visualizer';
import { fromBase64 } from '../codecs/internal/field.js';
import { VerificationError, type VerificationReason } from '../errors/submission.js';

/** The root node of a command. */
export type RootNode =
  { readonly kind: 'create'; readonly create: Create } | { readonly kind: 'exercise'; readonly exercise: Exercise };

/** A node of any kind; the package does not export this type. */
export type NodeType = Extract<DamlTransaction_Node['versionedNode'], { oneofKind: 'v1' }>['v1']['nodeType'];

/** Creates the error for a submission that must not be signed. */
export const refusal = (reason: VerificationReason, explanation: string, path?: string): VerificationError =>
  new VerificationError(reason, explanation, path);

/** A complete prepared transaction. */
interface Decoded {
  readonly transaction: DamlTransaction;
  readonly metadata: Metadata;
}

/** The maximum length in base64 characters. By default, a participant accepts messages of at most 10 MiB. */
const maxLength = 16 * 1024 * 1024;

/**
 * Decodes a prepared transaction. All checks, including that of the hash, use the decoded value rather than the bytes.
 */
export function decodeTransaction(base64: string): Decoded {
  if (base64.length > maxLength) throw refusal('undecodable', 'it is too large');
  const { transaction, metadata } = decode(base64);
  if (transaction === undefined || metadata === undefined) throw refusal('undecodable', 'a part of it is missing');
  return { transaction, metadata };
}

function decode(base64: string): PreparedTransaction {
  try {
    return PreparedTransaction.fromBinary(fromBase64(base64), { readUnknownField: false });
  } catch {
    // the library's error quotes the input; deep nesting overflows the stack
    throw refusal('undecodable', 'it is not a prepared transaction');
  }
}

/** Throws if a hash is not the transaction's hash by scheme V2. */
export async function checkHash(decoded: Decoded, given: string): Promise<void> {
  const [computed, claimed] = [fromBase64(await computeHash(decoded)), decodeHash(given)];
  // compares bytes, because the last character of base64 is ambiguous
  if (claimed.length !== computed.length || claimed.some((byte, index) => byte !== computed[index])) {
    throw refusal('hash', 'its hash is that of another transaction');
  }
}

async function computeHash(decoded: Decoded): Promise<string> {
  try {
    return await hashPreparedTransaction(decoded, 'base64');
  } catch {
    // the library's error quotes the input
    throw refusal('hash', 'it cannot be hashed');
  }
}

function decodeHash(base64: string): Uint8Array {
  try {
    return fromBase64(base64);
  } catch {
    throw refusal('hash', 'its hash is not base64');
  }
}
