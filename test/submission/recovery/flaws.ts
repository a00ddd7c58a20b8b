import { isLedgerError, isTransient, type LedgerError } from '../../../src/index.js';
import type { ObservedSubscription, Outcome } from './play.js';
import type { Schedule } from './Schedule.js';

/** The timeout of the ledger end, which is read first. */
const ledgerEndMs = 5_000;
/** The shortest time of an attempt, also of the last one. */
const lastAttemptMs = 5_000;
/** Enough for the longest delay, an attempt that finds the change in flight, and reading the transaction. */
const healthyMs = 20_000;

/** All that is wrong with an outcome, whatever the faults were. */
export const findFlaws = (outcome: Outcome): readonly string[] => [
  ...outcome.leaks,
  ...(outcome.participant.commits.length > 1 ? [`${outcome.participant.commits.length} commits`] : []),
  ...outcome.subscriptions.flatMap((one, index) => findFlawsOfOne(outcome, one).map((flaw) => `#${index + 1} ${flaw}`)),
  ...findRequestFlaws(outcome),
];

function findFlawsOfOne(outcome: Outcome, one: ObservedSubscription): readonly string[] {
  const { values, error, completed } = one;
  if (outcome.schedule.unsubscribeAtMs !== null && !completed && error === undefined) return [];
  return [
    ...(completed === (values.length === 1) && completed === (error === undefined)
      ? []
      : [`ends with ${values.length} values, ${String(completed)}, ${String(error)}`]),
    ...findContradictions(outcome, one),
    ...findTimeFlaws(outcome, one),
  ];
}

/** Where the result differs from the ledger an hour later. */
function findContradictions(
  { participant, schedule }: Outcome,
  { values, error, endedAt = 0, startedAt }: ObservedSubscription,
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
    // it does not rule out what is sent afterwards
    return committed === undefined || committed.sentAt >= startedAt + endedAt
      ? []
      : [`${error._tag}, but committed at ${committed.offset}`];
  }
  const calmMs = startedAt + endedAt - Math.max(startedAt, participant.faultUntil);
  // refused tokens end the reading of a committed transaction, though a feed retries after them
  const mayEndEarly = !isTransient(error.lastError) || isLedgerError(error.lastError, 'UnauthorizedError');
  const isEarly = schedule.withinMs !== null && endedAt < schedule.withinMs && !mayEndEarly;
  return [
    ...(isEarly ? [`gives up at ${endedAt}`] : []),
    ...(error.completionOffset === undefined || error.completionOffset === committed?.offset
      ? []
      : [`reports offset ${error.completionOffset}, committed at ${committed?.offset ?? 'nothing'}`]),
    ...(schedule.withinMs !== null && calmMs >= healthyMs && canBeDecided(schedule)
      ? [`unknown after ${calmMs} ms without faults`]
      : []),
  ];
}

/** A refusal after a lost response decides nothing, because another participant may have committed the submission. */
const canBeDecided = (schedule: Schedule): boolean =>
  isReadable(schedule) && isSearchable(schedule) && !schedule.isForged && schedule.expiresAtMs === null;

/** Once another participant has refused the bytes, their transaction is searched among the updates up to the ledger end. */
const isSearchable = (schedule: Schedule): boolean =>
  !isEndLate(schedule) || !schedule.faults.some((fault) => fault?.kind === 'elsewhere');

/** A transaction can be read without one of the endpoints, but not without both. */
const isReadable = (schedule: Schedule): boolean => schedule.byOffset === 'served' || !isEndLate(schedule);

const isEndLate = ({ ledgerEnd, requestTimeoutMs }: Schedule): boolean =>
  ledgerEnd === 'silent' || (ledgerEnd === 'slow' && requestTimeoutMs < 4_500);

/** The errors after which nothing was committed. */
const definite: readonly LedgerError['_tag'][] = [
  'SubmissionRejectedError',
  'SubmissionExpiredError',
  'NotSentError',
  'UnauthorizedError',
];

function findTimeFlaws({ schedule }: Outcome, { endedAt }: ObservedSubscription): readonly string[] {
  const { withinMs, requestTimeoutMs, latencyMs, tokenMs } = schedule;
  const bound = ledgerEndMs + requestTimeoutMs + (withinMs ?? 0) + lastAttemptMs + 4 * Math.max(latencyMs, ...tokenMs);
  if (endedAt === undefined) return ['does not end'];
  return endedAt <= bound ? [] : [`ends at ${endedAt}, after ${bound}`];
}

function findRequestFlaws({ schedule, participant, subscriptions }: Outcome): readonly string[] {
  const { executed, unauthorized } = participant;
  const ids = executed.map(({ body }) => body['submissionId']);
  const signed = new Set(
    executed.map(({ body }) => JSON.stringify({ ...body, submissionId: '', deduplicationPeriod: {} })),
  );
  return [
    ...(signed.size > 1 ? ['sends another body'] : []),
    ...(new Set(ids).size + unauthorized >= ids.length || subscriptions.length > 1
      ? []
      : ['sends a submission id again']),
    ...(schedule.withinMs === null && executed.length > subscriptions.length + unauthorized
      ? [`sends ${executed.length} times without recovery`]
      : []),
  ];
}
