import { isLedgerError, isTransient, type LedgerError } from '../../../src/index.js';
import type { Outcome, Subscribed } from './play.js';
import type { Schedule } from './Schedule.js';

const endMs = 5_000;
const lastTryMs = 5_000;
/** Long enough for the longest wait, a try that finds the change in flight, and reading back. */
const healthyMs = 20_000;

/** What nobody may ever see, whatever went wrong. */
export const flawsOf = (outcome: Outcome): readonly string[] => [
  ...outcome.wrong,
  ...(outcome.participant.commits.length > 1 ? [`${outcome.participant.commits.length} commits`] : []),
  ...outcome.subscribed.flatMap((one, index) => flawsOfOne(outcome, one).map((flaw) => `#${index + 1} ${flaw}`)),
  ...flawsOfSending(outcome),
];

function flawsOfOne(outcome: Outcome, one: Subscribed): readonly string[] {
  const { values, error, completed } = one;
  if (outcome.schedule.unsubscribeAtMs !== null && !completed && error === undefined) return [];
  return [
    ...(completed === (values.length === 1) && completed === (error === undefined)
      ? []
      : [`ends with ${values.length} values, ${String(completed)}, ${String(error)}`]),
    ...flawsOfTruth(outcome, one),
    ...flawsOfTime(outcome, one),
  ];
}

/** What is reported and what the ledger has, an hour later. */
function flawsOfTruth(
  { participant, schedule }: Outcome,
  { values, error, endedAt = 0, startedAt }: Subscribed,
): string[] {
  const [committed] = participant.commits;
  const [value] = values;
  if (value !== undefined)
    return committed !== undefined && value.updateId === `1220${committed.offset}` && value.offset === committed.offset
      ? []
      : [`emits ${value.offset}, committed is ${committed?.offset ?? 'nothing'}`];
  if (!isLedgerError(error)) return [`ends with ${String(error)}`];
  if (error._tag !== 'OutcomeUnknownError') {
    if (!definite.includes(error._tag)) return [`ends with a ${error._tag}`];
    // of what is sent afterwards it says nothing
    return committed === undefined || committed.sentAt >= startedAt + endedAt
      ? []
      : [`${error._tag}, but committed at ${committed.offset}`];
  }
  const calmMs = startedAt + endedAt - Math.max(startedAt, participant.troubleUntil);
  const isEarly = schedule.withinMs !== null && endedAt < schedule.withinMs && isTransient(error.lastError);
  return [
    ...(isEarly ? [`gives up at ${endedAt}`] : []),
    ...(error.completionOffset === undefined || error.completionOffset === committed?.offset
      ? []
      : [`told to be at ${error.completionOffset}, committed at ${committed?.offset ?? 'nothing'}`]),
    ...(schedule.withinMs !== null && calmMs >= healthyMs && canBeRead(schedule)
      ? [`unknown after ${calmMs} ms of health`]
      : []),
  ];
}

/** A feed does without one of them, not without both. */
const canBeRead = ({ byOffset, ledgerEnd, requestTimeoutMs }: Schedule): boolean =>
  byOffset === 'served' || !(ledgerEnd === 'silent' || (ledgerEnd === 'slow' && requestTimeoutMs < 4_500));

const definite: readonly LedgerError['_tag'][] = [
  'SubmissionRejectedError',
  'SubmissionExpiredError',
  'NotSentError',
  'UnauthorizedError',
];

function flawsOfTime({ schedule }: Outcome, { endedAt }: Subscribed): readonly string[] {
  const { withinMs, requestTimeoutMs, latencyMs, tokenMs } = schedule;
  const bound = endMs + requestTimeoutMs + (withinMs ?? 0) + lastTryMs + 4 * Math.max(latencyMs, ...tokenMs);
  if (endedAt === undefined) return ['does not end'];
  return endedAt <= bound ? [] : [`ends at ${endedAt}, after ${bound}`];
}

function flawsOfSending({ schedule, participant, subscribed }: Outcome): readonly string[] {
  const { executed, unauthorized } = participant;
  const ids = executed.map(({ body }) => body['submissionId']);
  const signed = new Set(
    executed.map(({ body }) => JSON.stringify({ ...body, submissionId: '', deduplicationPeriod: {} })),
  );
  return [
    ...(signed.size > 1 ? ['sends something else than before'] : []),
    ...(new Set(ids).size + unauthorized >= ids.length || subscribed.length > 1 ? [] : ['sends a submission id again']),
    ...(schedule.withinMs === null && executed.length > subscribed.length + unauthorized
      ? [`sends ${executed.length} times without recovery`]
      : []),
  ];
}
