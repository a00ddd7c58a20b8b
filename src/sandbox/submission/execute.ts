import { parseBody } from '../decoding/parseBody.js';
import type { TransactionFormat } from '../formats/TransactionFormat.js';
import type { Answer } from '../http/Answer.js';
import type { Call } from '../http/Call.js';
import { jsonAnswer } from '../http/jsonAnswer.js';
import { visibleTransaction } from '../visible/visibleTransaction.js';
import { checkExecution } from './checkExecution.js';
import { commitSubmission } from './commitSubmission.js';
import { decodePrepared } from './decodePrepared.js';
import { hashPrepared } from './hashPrepared.js';
import type { PreparedSubmission } from './PreparedSubmission.js';
import { readExecution } from './readExecution.js';

/** `POST /v2/interactive-submission/executeAndWaitForTransaction` */
export function execute({ body, participant, trace }: Call): Answer {
  const { ledger, settings, deduplication } = participant;
  const execution = readExecution(parseBody(body), settings.profile);
  const prepared = decodePrepared(execution.preparedTransaction);
  const hash = hashPrepared(execution.preparedTransaction);
  const changeId = JSON.stringify([
    execution.userId === '' ? prepared.userId : execution.userId,
    prepared.party,
    prepared.commandId,
  ]);
  checkExecution(execution, prepared, hash, deduplication.find(changeId), participant);
  const transaction = commitSubmission(prepared, hash, trace, participant);
  const { submissionId } = execution;
  deduplication.remember(changeId, { submissionId, completionOffset: transaction.offset, at: Date.now() });
  const format = execution.format ?? defaultFormat(prepared);
  const { served } = visibleTransaction(transaction, format, { ledger, profile: settings.profile });
  return jsonAnswer({ transaction: served });
}

/** Everything that the parties of the submission may see of the active set. */
function defaultFormat({ party, readAs }: PreparedSubmission): TransactionFormat {
  const wildcard = [{ kind: 'wildcard', id: '', blob: false, view: false }] as const;
  return { events: { byParty: new Map([party, ...readAs].map((name) => [name, wildcard])) }, ledgerEffects: false };
}
