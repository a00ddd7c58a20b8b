import { randomUUID } from 'node:crypto';
import { requestError } from '../errors.js';
import type { CommittedCommand } from '../participant/Participant.js';
import type { SandboxProfile } from '../Sandbox.js';
import { decodeError, type JsonCursor, readBase64, readDuration, readLedgerString } from './JsonCursor.js';
import { readTransactionFormat, type TransactionFormat } from './formats.js';
import { hashingSchemes, readMinLedgerTime } from './prepareRequest.js';

/** The body of an execute request. */
export interface ExecuteRequest {
  readonly preparedTransaction: Buffer;
  readonly signatures: readonly PartySignature[];
  readonly isDuplicate: (earlier: CommittedCommand) => boolean;
  readonly submissionId: string;
  readonly userId: string;
  readonly hashingSchemeVersion: string;
  /** In microseconds since the epoch. */
  readonly minLedgerTime: number | undefined;
  readonly format: TransactionFormat | undefined;
}

/** One signature of an execute request, with its party. */
export interface PartySignature {
  readonly party: string;
  readonly format: string;
  readonly signature: Buffer;
  readonly signedBy: string;
  readonly algorithm: string;
}

/**
 * Reads the body of an execute request. Participants require the deduplication period, although the specification does
 * not.
 */
export function readExecuteRequest(body: JsonCursor, profile: SandboxProfile): ExecuteRequest {
  const submissionId = body.required('submissionId');
  return {
    preparedTransaction: readBase64(body.required('preparedTransaction')),
    signatures: readSignatures(body.required('partySignatures')),
    isDuplicate: readDeduplicationPeriod(body.required('deduplicationPeriod')),
    submissionId: submissionId.value === '' ? randomUUID() : readLedgerString(submissionId),
    userId: body.field('userId').string(),
    hashingSchemeVersion: body.required('hashingSchemeVersion').oneOfStrings(hashingSchemes),
    minLedgerTime: body.field('minLedgerTime').optional(readMinLedgerTime),
    format: body.field('transactionFormat').optional((format) => readTransactionFormat(format, profile)),
  };
}

/** Reads the signatures of all parties. */
function readSignatures(cursor: JsonCursor): readonly PartySignature[] {
  return cursor
    .required('signatures')
    .list()
    .flatMap((entry) => {
      const party = entry.required('party').string();
      const signatures = entry.required('signatures').list();
      return signatures.map((signature) => readSignature(party, signature));
    });
}

function readSignature(party: string, cursor: JsonCursor): PartySignature {
  return {
    party,
    format: cursor.required('format').string(),
    signature: readBase64(cursor.required('signature')),
    signedBy: cursor.required('signedBy').string(),
    algorithm: cursor.required('signingAlgorithmSpec').string(),
  };
}

const maxDeduplicationMs = 7 * 24 * 3600 * 1000;

/** Reads a deduplication period, as a predicate that tests whether an earlier commit is within it. */
function readDeduplicationPeriod(cursor: JsonCursor): (earlier: CommittedCommand) => boolean {
  const [kind, content] = cursor.oneOf();
  if (kind === 'Empty') return ({ at }) => Date.now() - at <= maxDeduplicationMs;
  const value = content.required('value');
  if (kind === 'DeduplicationOffset') {
    const offset = value.integer();
    return ({ completionOffset }) => completionOffset > offset;
  }
  if (kind !== 'DeduplicationDuration') throw decodeError(`Unknown variant ${kind} at '${cursor.at}'`);
  const periodMs = readDuration(value);
  if (periodMs < 0 || periodMs > maxDeduplicationMs) {
    throw requestError(
      'INVALID_DEDUPLICATION_PERIOD',
      'The deduplication period is negative or longer than the maximum',
      {
        context: { longest_duration: 'PT168H' },
      },
    );
  }
  return ({ at }) => Date.now() - at <= periodMs;
}
