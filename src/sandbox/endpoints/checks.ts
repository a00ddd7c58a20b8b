import { verify } from 'node:crypto';
import { refused } from '../errors.js';
import type { Trace } from '../http/requests.js';
import type { Accepted, Participant } from '../participant/Participant.js';
import type { HostedParties, PartyKeys } from '../participant/parties.js';
import type { Settings } from '../participant/Settings.js';
import type { Prepared } from '../prepared/Prepared.js';
import type { Execution, PartySignature } from '../requests/executeRequest.js';
import type { SandboxProfile } from '../Sandbox.js';
import { timestampOf } from '../wire/values.js';

/** A submission on its way to be committed. */
export interface Signed {
  readonly execution: Execution;
  readonly prepared: Prepared;
  /** What its party has to have signed. */
  readonly hash: Buffer;
  /** User, acting party and command id. */
  readonly changeId: string;
  readonly trace: Trace;
}

/** Refuses a hashing scheme that the release or its synchronizers do not support: V3 needs a newer protocol version. */
export function checkHashingScheme(version: string, profile: SandboxProfile, code: string): void {
  if (version.endsWith('_V2')) return;
  const known = version.endsWith('_V3') && profile !== '3.4';
  if (!known) throw refused('INVALID_ARGUMENT', `Unsupported hashing scheme version ${version}`);
  throw refused(code, `The protocol version of the synchronizer does not support ${version}`);
}

/** Refuses what a participant does not even send to the synchronizer, in the order in which it finds the reasons. */
export function checkAcceptance({ execution, prepared, hash, changeId }: Signed, participant: Participant): void {
  const { settings, hosted, deduplication, pending } = participant;
  const { party, synchronizerId } = prepared;
  checkHashingScheme(execution.hashingSchemeVersion, settings.profile, 'FAILED_TO_EXECUTE_TRANSACTION');
  checkSignatures(execution.signatures, party, hash, hosted);
  if (!settings.synchronizers.includes(synchronizerId)) {
    throw refused(
      'FAILED_TO_EXECUTE_TRANSACTION',
      `This participant is not connected to synchronizer ${synchronizerId}`,
    );
  }
  const earlier = deduplication.find(changeId);
  if (earlier !== undefined && execution.isDuplicate(earlier)) throw duplicate(earlier);
  if (pending.has(changeId)) throw refused('SUBMISSION_ALREADY_IN_FLIGHT', 'The submission is already in-flight');
}

const most = 50;

/** Refuses a submission unless as many keys of its party as have to, and nobody else, have signed the hash. */
function checkSignatures(
  signatures: readonly PartySignature[],
  party: string,
  hash: Uint8Array,
  hosted: HostedParties,
): void {
  const keys = hosted.find(party);
  if (keys === undefined) throw failed(`${party} is no external party of this participant`);
  if (signatures.length > most) throw failed(`${signatures.length} signatures are more than ${most}`);
  const foreign = signatures.find((given) => given.party !== party);
  if (foreign !== undefined) throw failed(`${foreign.party} is not the party of the submission`);
  const faults = signatures.map((given) => faultOf(given, keys, hash));
  const valid = new Set(signatures.filter((_, index) => faults[index] === undefined).map(({ signedBy }) => signedBy));
  if (valid.size >= keys.threshold) return;
  const reasons = faults.filter((fault) => fault !== undefined);
  const counts = `${valid.size} valid signatures from distinct keys (${reasons.length} invalid)`;
  throw failed([`${counts} of the ${keys.threshold} needed for ${party}`, ...new Set(reasons)].join('; '));
}

function failed(reason: string) {
  return refused('FAILED_TO_EXECUTE_TRANSACTION', `Signature check failed: ${reason}`);
}

/** What is wrong with a signature. */
function faultOf(given: PartySignature, { keys }: PartyKeys, hash: Uint8Array): string | undefined {
  const known = keys.find(({ fingerprint }) => fingerprint === given.signedBy);
  if (known === undefined) return `${given.signedBy} is no key of the party`;
  const { algorithm, formats, digest } = known.scheme;
  if (given.algorithm !== algorithm || !formats.includes(given.format)) {
    return `${given.algorithm} in ${given.format} does not fit the key`;
  }
  return verify(digest, hash, known.key, given.signature) ? undefined : `the signature of ${given.signedBy} is wrong`;
}

function duplicate({ completionOffset, submissionId }: Accepted) {
  return refused('DUPLICATE_COMMAND', 'A command with the given command id has already been successfully processed', {
    context: {
      completion_offset: String(completionOffset),
      existingSubmissionId: submissionId,
      accepted: 'true',
      definite_answer: 'true',
    },
  });
}

/** The ledger time of a submission: a given time, or the later one that was asked for. In microseconds. */
export function ledgerTimeOf(prepared: Prepared, execution: Execution, atLeast: number): number {
  return Math.max(atLeast, prepared.minLedgerTime ?? 0, execution.minLedgerTime ?? 0);
}

/** Rejects what those who confirm a transaction would reject, at the time of its commit. */
export function checkVerdict({ execution, prepared }: Signed, { ledger, settings }: Participant): void {
  const { effect, party, synchronizerId } = prepared;
  checkTimes(prepared, execution, settings);
  if (effect.kind === 'create') {
    if (effect.signatories.length === 1 && effect.signatories[0] === party) return;
    throw refused('INVALID_EXTERNAL_TRANSACTION', `${party} alone cannot authorize the contract`);
  }
  const { contractId } = effect;
  const contract = ledger.contracts.get(contractId);
  if (contract?.synchronizerId !== synchronizerId) {
    throw refused('LOCAL_VERDICT_INACTIVE_CONTRACTS', 'Rejected transaction is referring to inactive contracts', {
      resources: [['ErrorResource(CONTRACT_ID)', contractId]],
    });
  }
  if (!contract.created.signatories.includes(party)) {
    throw refused('INVALID_EXTERNAL_TRANSACTION', `${party} is no signatory of contract ${contractId}`);
  }
}

/** Rejects what comes out of its time. The clock decides: generated traffic may be ahead of it. */
function checkTimes(prepared: Prepared, execution: Execution, settings: Settings): void {
  const now = Date.now() * 1000;
  const { preparationTime, maxRecordTime } = prepared;
  if (maxRecordTime !== undefined && now > maxRecordTime) {
    const cause = `The record time is beyond ${timestampOf(maxRecordTime)}`;
    throw refused('LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED', cause);
  }
  if (Math.abs(now - preparationTime) > settings.preparationTimeToleranceMs * 1000) {
    const cause = `The preparation time ${timestampOf(preparationTime)} is too far from the record time`;
    throw refused('LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND', cause);
  }
  const ledgerTime = ledgerTimeOf(prepared, execution, now);
  if (ledgerTime - now > settings.ledgerTimeToleranceMs * 1000) {
    const cause = `The ledger time ${timestampOf(ledgerTime)} is too far from the record time`;
    throw refused('LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND', cause);
  }
}
