import { verify } from 'node:crypto';
import { requestError } from '../errors.js';
import type { Trace } from '../http/requests.js';
import type { CommittedCommand, Participant } from '../participant/Participant.js';
import type { HostedParties, PartyKeys } from '../participant/parties.js';
import type { Settings } from '../participant/Settings.js';
import type { PreparedSubmission } from '../prepared/PreparedSubmission.js';
import type { ExecuteRequest, PartySignature } from '../requests/executeRequest.js';
import type { SandboxProfile } from '../Sandbox.js';
import { stakeholdersOf } from '../wire/events.js';
import { formatMicros } from '../wire/values.js';
import type { WireCreatedEvent } from '../wire/WireEvent.js';

/** A submission to check and commit. */
export interface SignedSubmission {
  readonly request: ExecuteRequest;
  readonly prepared: PreparedSubmission;
  /** The hash that the party must sign. */
  readonly hash: Buffer;
  /** Identifies the change: user, acting party and command id. */
  readonly changeId: string;
  readonly trace: Trace;
}

/** Rejects a hashing scheme that the release or its synchronizers do not support: V3 needs a newer protocol version. */
export function checkHashingScheme(version: string, profile: SandboxProfile, code: string): void {
  if (version.endsWith('_V2')) return;
  const isKnown = version.endsWith('_V3') && profile !== '3.4';
  if (!isKnown) throw requestError('INVALID_ARGUMENT', `Unsupported hashing scheme version ${version}`);
  throw requestError(code, `The protocol version of the synchronizer does not support ${version}`);
}

/** Rejects submissions that a participant does not send to the synchronizer, in the participant's order of checks. */
export function checkAcceptance(
  { request, prepared, hash, changeId }: SignedSubmission,
  participant: Participant,
): void {
  const { settings, hosted, deduplication, pending } = participant;
  const { party, synchronizerId } = prepared;
  checkHashingScheme(request.hashingSchemeVersion, settings.profile, 'FAILED_TO_EXECUTE_TRANSACTION');
  checkSignatures(request.signatures, party, hash, hosted);
  if (!settings.synchronizers.includes(synchronizerId)) {
    throw requestError(
      'FAILED_TO_EXECUTE_TRANSACTION',
      `This participant is not connected to synchronizer ${synchronizerId}`,
    );
  }
  const earlier = deduplication.find(changeId);
  if (earlier !== undefined && request.isDuplicate(earlier)) throw duplicateCommand(earlier);
  if (pending.has(changeId)) throw requestError('SUBMISSION_ALREADY_IN_FLIGHT', 'The submission is already in-flight');
}

const maxSignatures = 50;

/** Rejects a submission unless the required number of its party's keys has signed the hash, and no other party has. */
function checkSignatures(
  signatures: readonly PartySignature[],
  party: string,
  hash: Uint8Array,
  hosted: HostedParties,
): void {
  const keys = hosted.find(party);
  if (keys === undefined) throw signatureError(`${party} is not an external party of this participant`);
  if (signatures.length > maxSignatures)
    throw signatureError(`${signatures.length} signatures are more than ${maxSignatures}`);
  const foreign = signatures.find((signature) => signature.party !== party);
  if (foreign !== undefined) throw signatureError(`${foreign.party} is not the party of the submission`);
  const faults = signatures.map((signature) => findSignatureFault(signature, keys, hash));
  const valid = new Set(signatures.filter((_, index) => faults[index] === undefined).map(({ signedBy }) => signedBy));
  if (valid.size >= keys.threshold) return;
  const reasons = faults.filter((fault) => fault !== undefined);
  const counts = `${valid.size} valid signatures from distinct keys (${reasons.length} invalid)`;
  throw signatureError([`${counts} of the ${keys.threshold} needed for ${party}`, ...new Set(reasons)].join('; '));
}

function signatureError(reason: string) {
  return requestError('FAILED_TO_EXECUTE_TRANSACTION', `Signature check failed: ${reason}`);
}

/** Returns what is wrong with a signature; `undefined` if it is valid. */
function findSignatureFault(signature: PartySignature, { keys }: PartyKeys, hash: Uint8Array): string | undefined {
  const key = keys.find(({ fingerprint }) => fingerprint === signature.signedBy);
  if (key === undefined) return `${signature.signedBy} is not a key of the party`;
  const { algorithm, formats, digest } = key.scheme;
  if (signature.algorithm !== algorithm || !formats.includes(signature.format)) {
    return `${signature.algorithm} in ${signature.format} does not fit the key`;
  }
  return verify(digest, hash, key.key, signature.signature)
    ? undefined
    : `the signature of ${signature.signedBy} is wrong`;
}

function duplicateCommand({ completionOffset, submissionId }: CommittedCommand) {
  return requestError(
    'DUPLICATE_COMMAND',
    'A command with the given command id has already been successfully processed',
    {
      context: {
        completion_offset: String(completionOffset),
        existingSubmissionId: submissionId,
        accepted: 'true',
        definite_answer: 'true',
      },
    },
  );
}

/** Rejects submissions that the confirming participants would reject at the time of the commit. */
export function checkVerdict({ request, prepared }: SignedSubmission, { ledger, settings }: Participant): void {
  const { effect, party, synchronizerId } = prepared;
  checkTimes(prepared, request, settings);
  if (effect.kind === 'create') {
    if (effect.signatories.length === 1 && effect.signatories[0] === party) return;
    throw requestError('INVALID_EXTERNAL_TRANSACTION', `${party} alone cannot authorize the contract`);
  }
  const { contractId } = effect;
  const contract = ledger.contracts.get(contractId);
  if (contract?.synchronizerId !== synchronizerId) {
    throw requestError('LOCAL_VERDICT_INACTIVE_CONTRACTS', 'Rejected transaction is referring to inactive contracts', {
      resources: [['ErrorResource(CONTRACT_ID)', contractId]],
    });
  }
  if (!controllersOf(contract.created, effect.choice).includes(party)) {
    throw requestError('INVALID_EXTERNAL_TRANSACTION', `${party} does not control ${effect.choice} of ${contractId}`);
  }
}

/**
 * Returns the parties that may each exercise a choice: the signatories for `Archive`, all stakeholders for other
 * choices.
 */
export const controllersOf = (created: WireCreatedEvent, choice: string): readonly string[] =>
  choice === 'Archive' ? created.signatories : stakeholdersOf(created);

/**
 * Rejects a submission outside its time bounds. Compares with the clock, because appended updates may be ahead of the
 * clock.
 */
function checkTimes(prepared: PreparedSubmission, request: ExecuteRequest, settings: Settings): void {
  const now = Date.now() * 1000;
  const { preparationTime, maxRecordTime } = prepared;
  if (maxRecordTime !== undefined && now > maxRecordTime) {
    const cause = `The record time is beyond ${formatMicros(maxRecordTime)}`;
    throw requestError('LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED', cause);
  }
  if (Math.abs(now - preparationTime) > settings.preparationTimeToleranceMs * 1000) {
    const cause = `The preparation time ${formatMicros(preparationTime)} is too far from the record time`;
    throw requestError('LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND', cause);
  }
  const ledgerTime = chooseLedgerTime(prepared, request, now);
  if (ledgerTime - now > settings.ledgerTimeToleranceMs * 1000) {
    const cause = `The ledger time ${formatMicros(ledgerTime)} is too far from the record time`;
    throw requestError('LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND', cause);
  }
}

/** Returns the ledger time of a submission in microseconds: the given time, or a later `minLedgerTime`. */
export function chooseLedgerTime(prepared: PreparedSubmission, request: ExecuteRequest, atLeast: number): number {
  return Math.max(atLeast, prepared.minLedgerTime ?? 0, request.minLedgerTime ?? 0);
}
