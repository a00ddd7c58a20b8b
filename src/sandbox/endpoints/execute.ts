import { randomUUID, verify } from 'node:crypto';
import * as t from 'io-ts';
import { concatMap, map, type Observable } from 'rxjs';
import { DeduplicationPeriod as WirePeriod, Signature } from '../../codecs/ExecuteRequest.js';
import { lenient, nullable, text } from '../../codecs/internal/field.js';
import { MinLedgerTime } from '../../codecs/MinLedgerTime.js';
import { HashingSchemeVersion, LedgerString } from '../../codecs/scalars.js';
import { TransactionFormat } from '../../codecs/UpdateFormat.js';
import { requestError } from '../errors.js';
import { type Answer, type Call, jsonAnswer } from '../http/Call.js';
import { visibleTransaction } from '../ledger/visible.js';
import { completionValue, type Submission } from '../participant/Completions.js';
import type { Participant } from '../participant/Participant.js';
import type { HostedParties, PartyKeys } from '../participant/parties.js';
import type { DecodedTransaction } from '../prepared/PreparedEncoding.js';
import {
  decodeBody,
  invalidField,
  missingField,
  readBase64,
  readMinLedgerTime,
  readPeriod,
} from '../requests/decode.js';
import { selectParties, selectTransactions } from '../requests/selections.js';
import type { SandboxProfile } from '../SandboxChanges.js';
import { checkConformance } from '../submission/conformance.js';
import type { PreparedSubmission } from '../submission/interpret.js';
import { checkInputs, checkLedgerTime, submit } from '../submission/submit.js';
import { formatMicros } from '../wire/values.js';
import { answerOutcome, withSubmissionId } from './commands.js';

/**
 * The body of an execute request. Participants require the deduplication period, although the specification does not.
 */
const ExecuteBody = t.type({
  preparedTransaction: text,
  partySignatures: t.type({ signatures: t.array(t.type({ party: text, signatures: t.array(Signature) })) }),
  deduplicationPeriod: WirePeriod,
  submissionId: text,
  userId: lenient(text, ''),
  hashingSchemeVersion: HashingSchemeVersion,
  minLedgerTime: nullable(MinLedgerTime),
  transactionFormat: nullable(TransactionFormat),
});

/** `POST /v2/interactive-submission/executeAndWaitForTransaction` */
export function execute({ body, participant, trace, fault, timeoutAnswer }: Call): Observable<Answer> {
  const request = decodeBody(ExecuteBody, body, participant.settings);
  const { partySignatures, transactionFormat, userId, hashingSchemeVersion } = request;
  const bytes = readBase64(request.preparedTransaction, 'preparedTransaction');
  const submissionId = request.submissionId === '' ? randomUUID() : request.submissionId;
  if (!LedgerString.is(submissionId)) throw invalidField('submissionId');
  const period = readPeriod(request.deduplicationPeriod, participant.settings.defaultDeduplicationMs);
  const minLedgerTime = readMinLedgerTime(request.minLedgerTime, participant.ledger.now());
  const selection = transactionFormat && selectTransactions(transactionFormat, participant.settings.profile);
  const submitted = ({ prepared, hash }: DecodedTransaction): Observable<Answer> => {
    const { party, commandId, synchronizerId, effect } = prepared;
    const submission: SignedSubmission = {
      prepared,
      hash,
      commandId,
      actAs: [party],
      userId,
      submissionId,
      trace,
      workflowId: '',
      synchronizerId,
      effects: [effect],
      period,
      minLedgerTime: Math.max(prepared.minLedgerTime ?? 0, minLedgerTime ?? 0),
      size: bytes.length,
      signatures: partySignatures.signatures.flatMap((entry) =>
        entry.signatures.map((signature) => ({ ...signature, party: entry.party })),
      ),
      hashingSchemeVersion,
    };
    checkSigned(submission, participant);
    return submit(submission, { participant, fault, timeoutAnswer }, checkSignedVerdict).pipe(
      map((outcome) =>
        answerOutcome(outcome, (committed) => {
          // by default all contracts that the party may see
          const transaction = visibleTransaction(committed, selection ?? selectParties([party]), participant);
          return jsonAnswer({ transaction });
        }),
      ),
    );
  };
  // a client that disconnects does not stop its submission
  return withSubmissionId(submissionId, () =>
    participant.pending.run(participant.encoding.decode(bytes).pipe(concatMap(submitted))),
  );
}

const CompletionByHashBody = t.type({ transactionHash: text });

/** `POST /v2/commands/completion-by-hash`: the commit of a signed transaction. It does not list rejected attempts. */
export function getCompletionByHash({ participant, body }: Call): Answer {
  const { transactionHash: hash } = decodeBody(CompletionByHashBody, body, participant.settings);
  if (hash === '') throw missingField('transactionHash');
  const { ledger, completions, settings } = participant;
  const completion = completions.findByHash(hash);
  if (completion === undefined || completion.offset <= ledger.pruned)
    throw requestError('COMPLETION_NOT_FOUND', `No completion is known for the transaction hash ${hash}`);
  const acceptedCompletion = completionValue(completion, completion.submission.actAs, settings);
  return jsonAnswer({ acceptedCompletion, lastRejectedCompletions: [] });
}

/** A submission that its party has signed. */
interface SignedSubmission extends Submission {
  readonly prepared: PreparedSubmission;
  /** The hash that the party must sign. */
  readonly hash: Buffer;
  readonly signatures: readonly PartySignature[];
  readonly hashingSchemeVersion: string;
}

/** A signature, with its party. */
type PartySignature = Signature & { readonly party: string };

/** Rejects a hashing scheme that the release or its synchronizers do not support: V3 needs a newer protocol version. */
export function checkHashingScheme(version: string, profile: SandboxProfile, code: string): void {
  if (version.endsWith('_V2')) return;
  const isKnown = version.endsWith('_V3') && profile >= '3.5';
  if (!isKnown) throw requestError('INVALID_ARGUMENT', `Unsupported hashing scheme version ${version}`);
  throw requestError(code, `The protocol version of the synchronizer does not support ${version}`);
}

/** Rejects submissions that a participant does not register, in the participant's order of checks. */
function checkSigned(submission: SignedSubmission, { settings, hosted }: Participant): void {
  const { synchronizerId } = submission;
  checkHashingScheme(submission.hashingSchemeVersion, settings.profile, 'FAILED_TO_EXECUTE_TRANSACTION');
  checkSignatures(submission, hosted);
  if (!settings.synchronizers.includes(synchronizerId)) {
    throw requestError(
      'FAILED_TO_EXECUTE_TRANSACTION',
      `This participant is not connected to synchronizer ${synchronizerId}`,
    );
  }
}

const maxSignatures = 50;

/** Rejects a submission unless the required number of its party's keys has signed the hash, and no other party has. */
function checkSignatures({ signatures, prepared, hash }: SignedSubmission, hosted: HostedParties): void {
  const { party } = prepared;
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
  if (signature.signingAlgorithmSpec !== algorithm || !formats.includes(signature.format)) {
    return `${signature.signingAlgorithmSpec} in ${signature.format} does not fit the key`;
  }
  return verify(digest, hash, key.key, Buffer.from(signature.signature, 'base64'))
    ? undefined
    : `the signature of ${signature.signedBy} is wrong`;
}

/** Rejects signed submissions that the confirming participants would reject at the time of the commit. */
function checkSignedVerdict(submission: SignedSubmission, participant: Participant): void {
  checkTimes(submission, participant);
  checkInputs(submission, participant);
  checkConformance(submission.prepared, participant);
}

/**
 * Rejects a submission outside its time bounds. Compares with the clock, because appended updates may be ahead of the
 * clock.
 */
function checkTimes(submission: SignedSubmission, { settings, ledger }: Participant): void {
  const now = ledger.now() * 1000;
  const { preparationTime, maxRecordTime } = submission.prepared;
  if (maxRecordTime !== undefined && now > maxRecordTime) {
    const cause = `The record time is beyond ${formatMicros(maxRecordTime)}`;
    throw requestError('LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED', cause);
  }
  if (Math.abs(now - preparationTime) > settings.preparationTimeToleranceMs * 1000) {
    const cause = `The preparation time ${formatMicros(preparationTime)} is too far from the record time`;
    throw requestError('LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND', cause);
  }
  checkLedgerTime(submission, { settings, ledger });
}
