import type { Completion } from '../codecs/Completion.js';
import type { Party } from '../codecs/scalars.js';
import { randomUuid, type Run } from './Run.js';

/** To what a commit belongs: to the change, to another one, or to one of both. */
export type Owner = 'change' | 'other' | 'unclear';

/**
 * Returns the id of a new attempt to submit commands. It has the number of the parties that act: a completion shows only
 * those parties that its reader names, so that the completion of more parties looks the same.
 */
export const submissionIdFor = (actAs: readonly Party[]): string => `canton-rx/${new Set(actAs).size}/${randomUuid()}`;

/** The number of parties in a submission id; `undefined` if it was not made here. */
const partiesIn = (submissionId: string): string | undefined => /^canton-rx\/(\d+)\//.exec(submissionId)?.[1];

/**
 * Returns to what a completion belongs. The attempts of this process are known by their ids. All others of the change have
 * the same command id, user and parties, and they count where the ledger, too, would refuse a repetition as a duplicate.
 * Other programs may have submitted the change if the caller gives its start.
 */
export function ownerOf(run: Run, { outcome, submissionId = '', ...completion }: Completion): Owner {
  const { change, start, strategy, submission } = run;
  if (outcome !== 'committed') return 'other';
  if (change.submissionIds.has(submissionId)) return 'change';
  const isGiven = start.isGiven === true;
  const isSame =
    (strategy.isSinceStart || isGiven) &&
    completion.commandId === change.commandId &&
    submission.actAs.every((party) => completion.actAs.includes(party));
  const parties = partiesIn(submissionId);
  if (!isSame || (parties !== undefined && parties !== partiesIn(submissionIdFor(submission.actAs)))) return 'other';
  if (parties !== undefined && isOfUser(run)) return 'change';
  return isGiven ? 'unclear' : 'other';
}

/** Whether all completions that were read are of the submitting user. */
const isOfUser = ({ service, submission }: Run): boolean =>
  submission.userId !== '' || service.learned.completionsPath === '/v2/commands/completions';
