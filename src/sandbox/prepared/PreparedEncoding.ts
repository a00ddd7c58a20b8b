import { randomUUID } from 'node:crypto';
import { defer, type Observable, of } from 'rxjs';
import { requestError } from '../errors.js';
import type { PreparedSubmission } from '../submission/interpret.js';
import { sha256 } from '../wire/values.js';
import type { WireCreatedEvent } from '../wire/WireUpdate.js';

/** How prepared transactions are encoded and hashed. */
export interface PreparedEncoding {
  /**
   * Encodes a prepared transaction.
   *
   * @param inputs - the contracts that the submission uses, and does not create itself
   */
  readonly encode: (
    submission: PreparedSubmission,
    inputs: readonly WireCreatedEvent[],
  ) => Observable<EncodedTransaction>;
  /** Decodes the bytes of a prepared transaction. Computes its hash, because the client does not send it. */
  readonly decode: (bytes: Uint8Array) => Observable<DecodedTransaction>;
}

/** A prepared transaction as it is sent to the client, and its hash. */
export interface EncodedTransaction {
  readonly bytes: Uint8Array;
  readonly hash: Buffer;
}

/** A prepared transaction that a client has sent back, and its hash. */
export interface DecodedTransaction {
  readonly prepared: PreparedSubmission;
  readonly hash: Buffer;
}

/**
 * Encodes prepared transactions as JSON, for virtual time: there, nothing can wait for the Promises of the encoding of
 * Canton. Clients cannot read it.
 */
export const plainEncoding: PreparedEncoding = {
  encode: (submission) =>
    defer(() => {
      const bytes = Buffer.from(JSON.stringify({ ...submission, uuid: randomUUID() }));
      return of({ bytes, hash: hashOf(bytes) });
    }),
  decode: (bytes) => defer(() => of({ prepared: parse(bytes), hash: hashOf(bytes) })),
};

const hashOf = (bytes: Uint8Array): Buffer => Buffer.from(sha256('prepared', Buffer.from(bytes).toString()), 'hex');

/** Parses bytes. The hash, which is signed, shows any change of them. */
function parse(bytes: Uint8Array): PreparedSubmission {
  try {
    return JSON.parse(Buffer.from(bytes).toString()) as PreparedSubmission;
  } catch {
    throw requestError('INVALID_ARGUMENT', 'Cannot parse prepared_transaction');
  }
}
