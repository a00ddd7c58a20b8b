import { randomUUID } from 'node:crypto';
import * as t from 'io-ts';
import { DeduplicationPeriod as WirePeriod, Signature } from '../../codecs/ExecuteRequest.js';
import { lenient, nullable, text } from '../../codecs/internal/field.js';
import { MinLedgerTime } from '../../codecs/MinLedgerTime.js';
import { HashingSchemeVersion, LedgerString } from '../../codecs/scalars.js';
import { TransactionFormat } from '../../codecs/UpdateFormat.js';
import { requestError } from '../errors.js';
import { type Answer, jsonAnswer } from '../http/Answer.js';
import type { Call } from '../http/Call.js';
import { visibleTransaction } from '../ledger/visible.js';
import { completionValue } from '../participant/Completions.js';
import { decodePrepared, loadVendor } from '../prepared/decodePrepared.js';
import {
  decodeBody,
  invalidField,
  missingField,
  readBase64,
  readMinLedgerTime,
  readPeriod,
} from '../requests/decode.js';
import { selectParties, selectTransactions } from '../requests/selections.js';
import { checkSigned, checkSignedVerdict, type SignedSubmission } from '../submission/SignedSubmission.js';
import type { DeduplicationPeriod } from '../submission/Submission.js';
import { submit } from '../submission/submit.js';
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
export async function execute({ body, participant, trace, fault, timeoutAnswer }: Call): Promise<Answer> {
  const vendor = await loadVendor();
  const request = decodeBody(ExecuteBody, body, participant.settings);
  const { partySignatures, transactionFormat, userId, hashingSchemeVersion } = request;
  const bytes = readBase64(request.preparedTransaction, 'preparedTransaction');
  const submissionId = request.submissionId === '' ? randomUUID() : request.submissionId;
  if (!LedgerString.is(submissionId)) throw invalidField('submissionId');
  const period = checkPeriod(readPeriod(request.deduplicationPeriod, maxDeduplicationMs));
  const minLedgerTime = readMinLedgerTime(request.minLedgerTime);
  const selection = transactionFormat && selectTransactions(transactionFormat, participant.settings.profile);
  return withSubmissionId(submissionId, async () => {
    const { prepared, hash } = await decodePrepared(bytes, vendor);
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
    // synchronous from here on, so that the ledger does not change between the checks and the commit
    checkSigned(submission, participant);
    const outcome = submit(submission, { participant, fault, timeoutAnswer }, checkSignedVerdict);
    return answerOutcome(outcome, (committed) => {
      // by default all contracts that the party may see
      const transaction = visibleTransaction(committed, selection ?? selectParties([party]), participant);
      return jsonAnswer({ transaction });
    });
  });
}

const maxDeduplicationMs = 7 * 24 * 3600 * 1000;

/** Rejects a deduplication period that is longer than the maximum. */
function checkPeriod(period: DeduplicationPeriod): DeduplicationPeriod {
  if ('afterOffset' in period || period.ms <= maxDeduplicationMs) return period;
  const cause = 'The deduplication period is longer than the maximum';
  throw requestError('INVALID_DEDUPLICATION_PERIOD', cause, { context: { longest_duration: 'PT168H' } });
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
