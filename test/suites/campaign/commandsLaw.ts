import { isLedgerError } from '../../../src/index.js';
import type { CommandCommit } from '../../helpers/CommandService.js';
import { commitsSeen, type Lived, type Played, submissionIdOf } from './playCommands.js';
import { UnreadError } from './workers.js';

/** What contradicts the guarantees in what happened; empty if nothing does. */
export const findFlaws = (played: Played): readonly string[] => [
  ...repeatedCommits(played),
  ...played.lives.flatMap((lived) => flawsOf(played, lived)),
  ...played.lives.flatMap((lived) => falseRefusals(played, lived)),
  ...(isUndone(played) ? ['a worker has not done its work'] : []),
  ...played.lives.filter((lived) => whyUnknown(played, lived) === 'for no reason').map(() => 'unknown for no reason'),
];

/** The changes that one ledger has committed more than once. A new call does not find what is pruned. */
function repeatedCommits({ node, lives, prunings }: Played): readonly string[] {
  const keyOf = ({ change, era }: CommandCommit): string => `${change} on ledger ${era}`;
  return node.commits.flatMap((commit, index) => {
    const life = lives.find(({ attempts }) => attempts.has(commit.submissionId));
    const known = lives.slice(life?.knowsFrom);
    const isKnown = ({ submissionId, offset }: CommandCommit): boolean =>
      known.some(({ attempts }) => attempts.has(submissionId)) ||
      !prunings.some((pruning) => pruning.atMs <= commit.atMs && pruning.offset >= offset);
    const earlier = node.commits.slice(0, index).filter((one) => keyOf(one) === keyOf(commit));
    return earlier.some(isKnown) ? [keyOf(commit)] : [];
  });
}

/** What a life has said that is not true. */
function flawsOf(played: Played, lived: Lived): readonly string[] {
  const { seen } = lived;
  const { hasCommandId, isSigned } = played.schedule;
  // not meant are attempts of a later life, and those that the call cannot know of
  const known = new Map(
    played.lives.slice(lived.knowsFrom, played.lives.indexOf(lived) + 1).flatMap(({ attempts }) => [...attempts]),
  );
  // without a command id of the caller, a call after a known outcome is another change
  const commandIds = [...(lived.attempts.size > 0 ? lived.attempts : known).values()];
  const commits = commitsSeen(played, lived).filter(
    ({ commandId }) => hasCommandId || isSigned || commandIds.includes(commandId),
  );
  if (seen.completed) {
    const shown = seen.values.map(({ offset, updateId }) => `${offset} ${updateId}`);
    const expected = commits.map(({ offset, era }) => `${offset} 1220${'ab'.repeat(era)}${offset}`);
    const isOwn = shown.length === 1 && expected.includes(shown[0] ?? '');
    return isOwn ? [] : [`emitted ${shown.join()}, not ${expected.join()}`];
  }
  if (seen.error instanceof UnreadError) {
    const { offset } = seen.error;
    return commits.some((commit) => commit.offset === offset) ? [] : [`said to be committed at ${offset}`];
  }
  if (seen.error === undefined || isLedgerError(seen.error, 'OutcomeUnknownError')) return [];
  if (!isLedgerError(seen.error, 'SubmissionRejectedError', 'NotSentError', 'SubmissionExpiredError'))
    return [`ended with ${nameOf(lived)}`];
  return commits
    .filter(({ submissionId, atMs }) => known.has(submissionId) && !isHeld(played, submissionId, atMs > lived.endedAt))
    .map(({ offset }) => `${nameOf(lived)}, although committed at ${offset}`);
}

/** What a worker has said not to be committed, although an attempt by then was or would be. */
const falseRefusals = (played: Played, { said }: Lived): readonly string[] =>
  said.flatMap(({ kind, atMs, era, attempts }) =>
    kind !== 'refused'
      ? []
      : played.node.commits
          .filter((commit) => commit.era === era && attempts.includes(commit.submissionId))
          .filter((commit) => !isHeld(played, commit.submissionId, commit.atMs > atMs))
          .filter((commit) => !isForgotten(played, commit.offset, atMs))
          .map(({ offset }) => `refused at ${atMs}, although committed at ${offset}`),
  );

/** Whether the participant has pruned a rule's commit: the rule decides again by its view, which is without the contract. */
const isForgotten = ({ schedule, prunings }: Played, offset: number, atMs: number): boolean =>
  schedule.worker === 'rule' && prunings.some((pruning) => pruning.atMs <= atMs && offset <= pruning.offset);

/** Whether a worker has not committed its commands in the end, although nothing but passing faults was in its way. */
function isUndone({ schedule, lives, node }: Played): boolean {
  const { worker, faults, events, recovers, minLedgerTimeRel } = schedule;
  const passing = ['clock', 'live', 'down', 'ingress', 'other', 'otherCommand', 'otherUser', 'otherParties'];
  const isLasting = faults.some((fault) => fault?.kind === 'refused' || fault?.kind === 'rejected');
  // without reading, nothing is learned of attempts that are held for longer than a request may take
  const isHeld = !recovers && minLedgerTimeRel !== undefined;
  if (worker === undefined || isLasting || isHeld || events.some(({ kind }) => !passing.includes(kind))) return false;
  // the view of a rule no longer has a contract that an earlier process has archived
  if (worker === 'rule' && schedule.kind === 'consume' && node.commits.length > 0) return false;
  // a later life finds the row of an outbox committed, and has nothing to say
  return !lives.some(({ seen }) => seen.completed || seen.error instanceof UnreadError);
}

/** Whether a participant committed an attempt that it held before the registration, for longer than anybody waits. */
const isHeld = ({ schedule, node }: Played, submissionId: string, isLate: boolean): boolean =>
  isLate && schedule.faults[node.attempts.findIndex((body) => submissionIdOf(body) === submissionId)]?.kind === 'held';

/** Why an outcome is unknown; `undefined` if it is known. */
export function whyUnknown(
  { schedule, replacedAt, disturbedUntil, prunings }: Played,
  lived: Lived,
): string | undefined {
  const { seen, startedAt } = lived;
  if (!isLedgerError(seen.error, 'OutcomeUnknownError')) return undefined;
  if (!schedule.recovers) return 'not recovered';
  if (replacedAt.some((at) => at <= lived.endedAt)) return 'replaced';
  if (prunings.length > 0) return 'pruned';
  // nothing shows that time passes
  if (!schedule.hasCheckpoints && !schedule.isSigned) return 'without checkpoints';
  // a completion does not show whether it is the change of an earlier process, or that of more parties
  const isForeign = schedule.events.some(({ kind, atMs }) => kind === 'foreignSuperset' && atMs <= lived.endedAt);
  if (isForeign && lived.isGiven) return 'of another program';
  // every attempt waits, and an attempt in flight may be decided late
  const waitMs = 150_000 + 2_000 * (schedule.minLedgerTimeRel ?? 0);
  return lived.endedAt - Math.max(startedAt, disturbedUntil) < waitMs ? 'disturbed' : 'for no reason';
}

export function nameOf({ seen: { completed, values, error } }: Lived): string {
  if (!completed) return error instanceof Error ? error.name : 'unsubscribed';
  return values[0]?.isRepeated === true ? 'repeated' : 'committed';
}
