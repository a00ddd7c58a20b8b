import { refused } from '../errors/refused.js';
import type { Participant } from '../participant/Participant.js';
import type { Accepted } from './Accepted.js';
import { checkHashingScheme } from './checkHashingScheme.js';
import { checkSignatures } from './checkSignatures.js';
import type { Signed } from './Signed.js';

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
