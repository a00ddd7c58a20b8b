import { refused } from '../errors/refused.js';
import type { Participant } from '../participant/Participant.js';
import type { Accepted } from './Accepted.js';
import { checkHashingScheme } from './checkHashingScheme.js';
import { checkSignatures } from './checkSignatures.js';
import type { Execution } from './Execution.js';
import type { PreparedSubmission } from './PreparedSubmission.js';

/** Refuses an execution in the order in which a participant finds the reasons. */
export function checkExecution(
  execution: Execution,
  { party, hashingSchemeVersion, command, maxRecordTime }: PreparedSubmission,
  hash: Uint8Array,
  earlier: Accepted | undefined,
  { settings, hosted, ledger }: Participant,
): void {
  checkHashingScheme(execution.hashingSchemeVersion, settings.profile);
  if (execution.hashingSchemeVersion !== hashingSchemeVersion) {
    throw refused('FAILED_TO_EXECUTE_TRANSACTION', `The transaction was prepared with ${hashingSchemeVersion}`);
  }
  checkSignatures(execution.signatures, party, hash, hosted);
  if (earlier !== undefined && execution.isDuplicate(earlier)) throw duplicate(earlier);
  if (maxRecordTime !== null && Date.now() > Date.parse(maxRecordTime)) {
    throw refused('LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED', `The record time is beyond ${maxRecordTime}`);
  }
  if (command.kind === 'archive' && ledger.contracts.get(command.contractId) === undefined) {
    throw refused('LOCAL_VERDICT_INACTIVE_CONTRACTS', `Rejected transaction is referring to inactive contracts`, {
      resources: [['ErrorResource(CONTRACT_ID)', command.contractId]],
    });
  }
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
