import { catchError, concat, concatMap, defaultIfEmpty, defer, map, type Observable } from 'rxjs';
import type { DisclosedContract } from '../codecs/SubmissionRequest.js';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import { isLedgerError, isTransient, type LedgerError, OutcomeUnknownError } from '../errors/LedgerError.js';
import { isUndecodedRequest, rejectionReason } from '../errors/rejectionReason.js';
import type { Submission } from '../errors/submission.js';
import { monotonicNow } from '../http/clock.js';
import { retryAfterOf, type RetryBudget } from '../http/retry.js';
import { refusalOf, resendAfter, sendAttempt, timeLeftMs } from './attempt.js';
import { type Attempt, commandsBody, type CommandSubmission, hasNames, usesFormat } from './CommandSubmission.js';
import { proveStart } from './LedgerStart.js';
import { type AttemptOutcome, decideAttempt, earliestOffset } from './outcome.js';
import { readCommitted, readDuplicate, readTransaction, unknownAfter } from './readCommitted.js';
import { readUsedContracts, settle } from './settleCommands.js';

/** The state of the attempts of one subscription. */
interface CommandAttempts {
  /** The number of attempts so far. */
  readonly sent: number;
  /** Whether one of them, or an attempt before this subscription, may have been committed. */
  readonly isOpen: boolean;
  /** How many of them were refused for a reason that is only repeated a few times. */
  readonly limited: number;
  /** The remaining time for further attempts. It counts the failed attempts. */
  readonly budget: RetryBudget;
}

/**
 * Sends the commands, and repeats them until their outcome is known or the time is used up. An attempt that may have been
 * committed is followed by the same change: every answer but a refusal before its registration decides on both.
 */
export const attemptCommands = (
  submission: CommandSubmission,
  attempts: CommandAttempts,
): Observable<SubmittedTransaction> =>
  defer(() => {
    const startedAt = monotonicNow();
    const isResent = isOpen(submission, attempts);
    const withinMs = isResent ? timeLeftMs(attempts) : Infinity;
    const disclosed$ = isResent ? discloseUsed(submission) : defer(() => [[]]);
    return disclosed$.pipe(
      concatMap((disclosed) => send(submission, { number: attempts.sent + 1, isResent, disclosed }, withinMs)),
      catchError((error: unknown) => {
        // the time starts at the first failure
        const tookMs = attempts.sent > 0 ? monotonicNow() - startedAt : 0;
        const budget = attempts.budget.spend(tookMs, Infinity);
        return retryOrEnd(submission, { ...attempts, sent: attempts.sent + 1, budget }, error);
      }),
    );
  });

const isOpen = (submission: CommandSubmission, attempts: CommandAttempts): boolean =>
  attempts.isOpen || submission.mayBeCommittedElsewhere();

/** Proves that the ledger is the same, and discloses the contracts that an earlier attempt may have archived. */
const discloseUsed = ({ service, start, request }: CommandSubmission): Observable<readonly DisclosedContract[]> =>
  concat(
    proveStart(service, start),
    readUsedContracts(service, request).pipe(
      map((contracts) => contracts.flatMap(({ disclosed }) => (disclosed === undefined ? [] : [disclosed]))),
    ),
  );

/** The path that submits commands. */
export const commandsPath = '/v2/commands/submit-and-wait-for-transaction';

function send(submission: CommandSubmission, attempt: Attempt, withinMs: number): Observable<SubmittedTransaction> {
  const { service, request } = submission;
  const { submissionId } = submission.submission;
  const makeBody = (): object => commandsBody(submission, attempt);
  const transaction$ = sendAttempt(
    service.link,
    submissionId,
    attempt.number,
    { path: commandsPath, makeBody },
    withinMs,
  );
  if (request.transactionFormat == null || usesFormat(request, attempt.isResent)) return transaction$;
  const named = { ...submission.submission, attempts: attempt.number };
  return transaction$.pipe(concatMap(({ offset }) => readTransaction(submission, named, offset, withinMs)));
}

/** Ends if the outcome is known or the time is used up. Otherwise, determines it or sends the commands again. */
function retryOrEnd(
  submission: CommandSubmission,
  attempts: CommandAttempts,
  error: unknown,
): Observable<SubmittedTransaction> {
  if (!isLedgerError(error) || isLedgerError(error, 'InvalidRequestError', 'OutcomeUnknownError')) throw error;
  const { start } = submission;
  const named = { ...submission.submission, attempts: attempts.sent };
  if (isLedgerError(error, 'LedgerResetError')) throw new OutcomeUnknownError(named, error);
  const outcome = decideAttempt(error, !isOpen(submission, attempts) && hasNames(submission.request));
  if (isLedgerError(error, 'ApiError') && outcome === 'committed')
    return readDuplicate(submission, named, error, timeLeftMs(attempts));
  // a registered attempt proves that no earlier one was committed or in flight
  const isOwnOpen = outcome !== 'rejected' && (attempts.isOpen || isUndecided(outcome));
  const next = { ...attempts, isOpen: isOwnOpen, limited: attempts.limited + (isLimited(error) ? 1 : 0) };
  const mayBeCommitted = isOpen(submission, next);
  const earliest = earliestOffset(error);
  // nothing that was sent before was or will be committed, so any offset is before it
  if (earliest !== undefined && earliest > start.since && !mayBeCommitted)
    return attemptCommands(submission.beginAt(earliest), next);
  const { budget } = attempts;
  const isAnswered = !isRepeated(error, outcome, { mayBeCommitted, limited: next.limited });
  if (isAnswered || budget.leftMs <= 0) {
    if (!mayBeCommitted) throw refusalOf(error, named);
    // a participant that refuses to answer may still show what it has committed
    const canSettle = isLedgerError(error, 'ApiError') && submission.retry.giveUpAfterMs > 0;
    if (!isAnswered && !canSettle) throw new OutcomeUnknownError(named, error);
    return settleWithin(submission, named, error, timeLeftMs(attempts));
  }
  const delayMs = budget.nextDelayMs(Math.max(retryAfterOf(error) ?? 0, minDelayMs(error)));
  return resendAfter(delayMs, submission.service.link, named, error, () =>
    attemptCommands(submission, { ...next, budget: budget.countFailure(delayMs) }),
  );
}

const isUndecided = (outcome: AttemptOutcome): boolean => outcome === 'unknown' || outcome === 'inFlight';

/** Whether to send the same commands again after a delay. */
function isRepeated(
  error: LedgerError,
  outcome: AttemptOutcome,
  { mayBeCommitted, limited }: { readonly mayBeCommitted: boolean; readonly limited: number },
): boolean {
  if (isInternal(error) && limited > maxInternal) return false;
  if (isUndecided(outcome)) return true;
  if (outcome === 'pruned') return false;
  if (isLedgerError(error, 'UnauthorizedError') && error.mayPass) return true;
  // a client that could not send the commands, or had no valid token, may be able to later
  if (!isLedgerError(error, 'ApiError')) return mayBeCommitted;
  if (isLimited(error)) return limited <= maxLimited;
  return rejectionReason(error) !== 'traffic' && (isTransient(error) || repeatedCodes.test(error.code ?? ''));
}

/** Codes that do not look transient: the same commands get other times, or another cost. */
const repeatedCodes =
  /^(LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND|SEQUENCER_MAX_SEQUENCING_TIME_TOO_FAR|OUTDATED_TRAFFIC_COST)$/;

/** How often the same commands are sent again after a refusal that may be permanent. */
const maxLimited = 3;

/** How often they are sent again after an internal error, which may be a bug that the same commands meet each time. */
const maxInternal = 2;

const isInternal = (error: LedgerError): boolean =>
  isLedgerError(error, 'ApiError') && error.errorCategory === 4 && !isUndecodedRequest(error);

/**
 * Whether a refusal may be permanent: locked contracts may be used up by now, a mediator message that is invalid costs
 * traffic each time, a request to the sequencer may be too large, and an internal error may be a bug.
 */
const isLimited = (error: LedgerError): boolean =>
  isLedgerError(error, 'ApiError') &&
  (isInternal(error) || rejectionReason(error) === 'contention' || limitedCodes.test(error.code ?? ''));

const limitedCodes = /^(MEDIATOR_INVALID_MESSAGE|SEQUENCER_REQUEST_FAILED)$/;

/** The minimum delay after a refusal because of load, in milliseconds. */
const minDelayMs = (error: LedgerError): number =>
  isLedgerError(error, 'ApiError') && rejectionReason(error) === 'backPressure' ? 1_000 : 0;

/** Determines whether an earlier attempt was committed, after a refusal that does not say. */
const settleWithin = (
  submission: CommandSubmission,
  named: Submission,
  refusal: LedgerError,
  withinMs: number,
): Observable<SubmittedTransaction> => {
  const endsAt = monotonicNow() + withinMs;
  return settle(submission, withinMs).pipe(
    defaultIfEmpty(undefined),
    unknownAfter(withinMs, named, refusal),
    concatMap((offset) => {
      if (offset === undefined) throw refusalOf(refusal, named);
      return readCommitted(submission, named, offset, Math.max(minReadMs, endsAt - monotonicNow()));
    }),
  );
};

/** The minimum time for reading a transaction, in milliseconds. */
const minReadMs = 5_000;
