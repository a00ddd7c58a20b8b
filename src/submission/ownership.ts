import type { Completion } from '../codecs/Completion.js';
import { hasPartiesOf } from '../codecs/internal/submissionId.js';
import type { Run } from './Run.js';

/** To what a commit belongs: to the change, to another one, or to one of both. */
export type Owner = 'change' | 'other' | 'unclear';

/**
 * Returns to what a completion belongs. The attempts of this process are known by their ids, which are random. All others of the change have
 * the same command id, user and parties, and they count where the ledger, too, would refuse a repetition as a duplicate.
 * Other programs may have submitted the change if the caller gives its start.
 */
export function ownerOf({ change, client, start, strategy, submission }: Run, completion: Completion): Owner {
  const { outcome, submissionId = '', commandId, actAs, transactionHash } = completion;
  if (outcome !== 'committed') return 'other';
  if (transactionHash !== undefined && transactionHash === submission.transactionHash) return 'change';
  // the caller may have given it to another submission, too
  if (submissionId === strategy.givenId) return 'unclear';
  if (change.submissionIds.has(submissionId)) return 'change';
  const isGiven = start.isGiven === true;
  const isCovered = strategy.isSinceStart || isGiven || isRecent(completion, submission.sentAt - strategy.reachMs);
  const isSame =
    isCovered && commandId === change.commandId && submission.actAs.every((party) => actAs.includes(party));
  const hasParties = hasPartiesOf(completion, submission.actAs);
  if (!isSame || hasParties === false) return 'other';
  // the newer path has the completions of all users
  const isOfUser = submission.userId !== '' || client.learned.completionsPath === '/v2/commands/completions';
  if (hasParties === true && isOfUser) return 'change';
  return isGiven ? 'unclear' : 'other';
}

/** Whether a completion is of a time or later. */
const isRecent = ({ synchronizerTime }: Completion, time: number): boolean =>
  Date.parse(synchronizerTime.recordTime) >= time;
