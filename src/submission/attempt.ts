import {
  catchError,
  concatAll,
  concatMap,
  defaultIfEmpty,
  defer,
  EMPTY,
  map,
  merge,
  type MonoTypeOperatorFunction,
  type Observable,
  pipe,
  take,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { ExecuteResponse, type SubmittedTransaction } from '../codecs/Transaction.js';
import type { ApiError } from '../errors/ApiError.js';
import { OutcomeUnknownError, isLedgerError, type LedgerError, verdict } from '../errors/LedgerError.js';
import { ConnectionError } from '../errors/request.js';
import {
  NotSentError,
  type Submission,
  SubmissionExpiredError,
  SubmissionRejectedError,
} from '../errors/submission.js';
import { ledgerEnd } from '../feed/ledgerEnd.js';
import { monotonicNow } from '../http/clock.js';
import { decodeWith, exchange } from '../http/exchange.js';
import type { Call, Link } from '../http/Link.js';
import { clampTimer, retryAfterOf } from '../http/retry.js';
import { attemptBody, type Attempts, type Execution } from './Execution.js';
import { decideOutcome, earliestOffset, isUnsent, type Outcome } from './outcome.js';
import { findCommitted, readCommitted, readDuplicate } from './readCommitted.js';

/** The path that executes signed submissions. */
export const executePath = '/v2/interactive-submission/executeAndWaitForTransaction';

/**
 * Sends a submission, and repeats it until its outcome is known or the time is used up. If an earlier attempt may have
 * been committed, first looks for its transaction.
 */
export const attempt = (execution: Execution, attempts: Attempts): Observable<SubmittedTransaction> =>
  defer(() => {
    const startedAt = monotonicNow();
    const withinMs = timeLeftMs(attempts);
    const leftMs = (): number => startedAt + withinMs - monotonicNow();
    const { isUnknown, refusal, sent } = attempts;
    const lookUp = { isRefused: refusal !== undefined, withinMs: withinMs / 2 };
    return (isUnknown ? findCommitted(execution, lookUp) : EMPTY).pipe(
      map((offset) => readCommitted(execution, { ...execution.submission, attempts: sent }, offset, leftMs())),
      defaultIfEmpty(defer(() => send(execution, attempts, startedAt, leftMs()))),
      concatAll(),
    );
  });

/** The minimum time for an attempt, in milliseconds, even if the total time is nearly used up. */
const minAttemptMs = 5_000;

/** The time for one more attempt, in milliseconds. */
export const timeLeftMs = ({ budget }: Pick<Attempts, 'budget'>): number => Math.max(minAttemptMs, budget.leftMs);

function send(
  execution: Execution,
  attempts: Attempts,
  startedAt: number,
  withinMs: number,
): Observable<SubmittedTransaction> {
  const { refusal, sent, earliest } = attempts;
  const { service, submission } = execution;
  const isRepeated = sent > 0;
  const number = refusal === undefined ? sent + 1 : sent;
  const request = { path: executePath, makeBody: () => attemptBody(execution, { number, earliest }) };
  const response$ =
    refusal === undefined
      ? sendAttempt(service.link, submission.submissionId, number, request, isRepeated ? withinMs : Infinity)
      : throwError(() => refusal);
  return response$.pipe(
    catchError((error: unknown) => {
      // the time starts at the first failure, and counts in full because it is a deadline
      const tookMs = isRepeated ? monotonicNow() - startedAt : 0;
      const budget = attempts.budget.spend(tookMs, Infinity);
      return retryOrEnd(execution, { ...attempts, sent: number, budget }, error);
    }),
  );
}

/** Sends an attempt of signed bytes or of commands. */
export function sendAttempt(
  link: Link,
  submissionId: string,
  attempt: number,
  request: Pick<Call, 'path' | 'makeBody'>,
  withinMs: number,
): Observable<SubmittedTransaction> {
  link.report(() => ({ _tag: 'SubmissionSent', submissionId, attempt }));
  const timeoutMs = Math.min(link.requestTimeoutMs, withinMs);
  const call: Call = { method: 'POST', ...request, isSubmission: true, timeoutMs };
  return exchange(link, call, decodeWith(request.path, ExecuteResponse)).pipe(
    catchError((error: unknown) => {
      if (!isOfOtherServer(error)) throw error;
      return confirmAddress(link, error);
    }),
  );
}

/** Whether another server has answered in place of the participant, which has not answered so far. */
const isOfOtherServer = (error: unknown): error is ApiError | ConnectionError =>
  isLedgerError(error, 'ApiError')
    ? error.answeredBy === 'network' && error.answeredBefore === undefined && verdict(error) === 'stop'
    : isLedgerError(error, 'ConnectionError') && error.isPermanent && !isUnsent(error);

/** How long to wait for the answer to another request, in milliseconds. */
const confirmTimeoutMs = 5_000;

/**
 * Reads the ledger end after the answer of another server to an attempt. If the answer is the same, the address is wrong, so
 * that nothing was sent to a participant. Otherwise, a gateway may have replaced the answer to this attempt only.
 */
function confirmAddress(link: Link, error: ApiError | ConnectionError): Observable<never> {
  const { path, code, host } = error;
  const second$ = ledgerEnd(link).pipe(catchError((second: unknown) => [second]));
  return merge(second$, timer(confirmTimeoutMs)).pipe(
    take(1),
    map((second) => {
      if (isLedgerError(second, 'ApiError', 'ConnectionError') && answerIn(second) === answerIn(error))
        throw new ConnectionError(path, reasonOf(error), code, host, undefined, true);
      throw isLedgerError(error, 'ApiError') ? error : new ConnectionError(path, error.reason, code, host);
    }),
  );
}

/** The first line of a message, and what helps. */
function reasonOf({ message }: Error): string {
  const [fact = '', ...details] = message.split('\n');
  const next = details.find((detail) => /^(Next|Hint): /.test(detail));
  return [fact.replace(/\.$/, ''), ...(next === undefined ? [] : [next.slice('Next: '.length)])].join('; ');
}

const answerIn = (error: ApiError | ConnectionError): string =>
  isLedgerError(error, 'ApiError') ? String(error.status) : `${error.reason} ${error.code}`;

/** Ends the submission if its outcome is known or the time is used up. Otherwise, sends it again after a delay. */
function retryOrEnd(execution: Execution, attempts: Attempts, error: unknown): Observable<SubmittedTransaction> {
  if (!isLedgerError(error) || error._tag === 'InvalidRequestError') throw error;
  const { budget, sent } = attempts;
  const submission = { ...execution.submission, attempts: sent };
  const outcome = decideOutcome(error);
  if (isLedgerError(error, 'ApiError') && outcome === 'committed')
    return readDuplicate(execution, submission, error, timeLeftMs(attempts));
  const wasUnknown = attempts.isUnknown || execution.mayBeCommittedElsewhere();
  // a refusal proves nothing about an earlier attempt, which another participant at the same address may have committed
  if (!wasUnknown) throwIfDecided(outcome, error, submission);
  const isUnknown = wasUnknown || outcome === 'unknown';
  if (budget.leftMs <= 0) {
    throw isUnknown ? new OutcomeUnknownError(submission, error) : refusalOf(error, submission);
  }
  const { transactionHash, since } = submission;
  const canBeFound = transactionHash !== undefined && since !== undefined;
  const isRefused = isUnknown && canBeFound && isFinal(outcome);
  const delayMs = budget.nextDelayMs(retryAfterOf(error));
  const earliest = earliestOffset(error);
  const next = {
    ...attempts,
    isUnknown,
    ...(isRefused && { refusal: error }),
    // a period from there on still reaches back to before the first attempt
    ...(earliest !== undefined && since !== undefined && earliest <= since && { earliest }),
    budget: budget.countFailure(delayMs),
  };
  return resendAfter(delayMs, execution.service.link, submission, error, () => attempt(execution, next));
}

/** Sends a submission again after a delay. */
export function resendAfter(
  delayMs: number,
  { report }: Link,
  { submissionId, attempts }: Submission,
  cause: LedgerError,
  resend: () => Observable<SubmittedTransaction>,
): Observable<SubmittedTransaction> {
  report(() => ({ _tag: 'SubmissionUnclear', submissionId, attempts, cause, delayMs }));
  return timer(clampTimer(delayMs)).pipe(concatMap(resend));
}

/** Throws if the only attempts that may have been committed have certainly failed for good. */
function throwIfDecided(outcome: Outcome, error: LedgerError, submission: Submission): void {
  if (outcome === 'expired' && isLedgerError(error, 'ApiError')) throw new SubmissionExpiredError(error, submission);
  if (outcome === 'rejected' || outcome === 'inconclusive' || outcome === 'notSent') throw refusalOf(error, submission);
}

/** The error of a submission that was not committed and will not be. */
export function refusalOf(error: LedgerError, submission: Submission): LedgerError {
  if (isLedgerError(error, 'ApiError')) return new SubmissionRejectedError(error, submission);
  if (isLedgerError(error, 'ConnectionError', 'TokenError'))
    return new NotSentError(error.reason, submission, 'code' in error ? error.code : undefined);
  return error;
}

/** Whether the same bytes will be refused again. Some refusals cost traffic, so the submission is then not repeated. */
const isFinal = (outcome: Outcome): boolean => outcome === 'rejected' || outcome === 'expired';

/** Reports the outcome of a submission. */
export const reportOutcome = (link: Link, submissionId: string): MonoTypeOperatorFunction<SubmittedTransaction> =>
  pipe(
    tap(({ updateId, offset, isRepeated }) => {
      link.report(() => ({
        _tag: 'SubmissionCommitted',
        submissionId,
        updateId,
        offset,
        ...(isRepeated && { isRepeated }),
      }));
    }),
    reportFailure(link, submissionId),
  );

/** Reports that a submission failed. */
export const reportFailure = <A>({ report }: Link, submissionId: string): MonoTypeOperatorFunction<A> =>
  tap({
    error: (error: unknown) => {
      report(() => ({ _tag: 'SubmissionFailed', submissionId, ...(isLedgerError(error) && { error }) }));
    },
  });
