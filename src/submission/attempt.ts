import {
  asyncScheduler,
  catchError,
  concatMap,
  defer,
  type MonoTypeOperatorFunction,
  type Observable,
  pipe,
  tap,
  timer,
} from 'rxjs';
import { ExecuteResponse, type Transaction } from '../codecs/Transaction.js';
import { isApiError } from '../errors/ApiError.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { isConnectionError, isTokenError, isUnauthorizedError } from '../errors/request.js';
import {
  NotSentError,
  OutcomeUnknownError,
  SubmissionExpiredError,
  SubmissionRejectedError,
} from '../errors/submission.js';
import { decodeWith, exchange } from '../http/exchange.js';
import type { Call, Link } from '../http/Link.js';
import { clampTimer, retryAfterOf } from '../http/retry.js';
import { attemptBody, type Attempts, type Execution } from './Execution.js';
import { decideOutcome } from './outcome.js';
import { readCommitted } from './readCommitted.js';

const path = '/v2/interactive-submission/executeAndWaitForTransaction';

/** Sends a submission, and repeats it until its outcome is known or the time is used up. */
export const attempt = (execution: Execution, attempts: Attempts): Observable<Transaction> =>
  defer(() => {
    const { service, submission } = execution;
    const { link } = service;
    const { submissionId } = submission;
    const number = attempts.budget.failures + 1;
    const isRepeated = number > 1;
    const sentAt = asyncScheduler.now();
    link.report(() => ({ _tag: 'SubmissionSent', submissionId, attempt: number }));
    const call: Call = {
      method: 'POST',
      path,
      isSubmission: true,
      makeBody: () => attemptBody(execution, number),
      ...(isRepeated && { timeoutMs: Math.min(link.requestTimeoutMs, timeLeftMs(attempts)) }),
    };
    return exchange(link, call, decodeWith(path, ExecuteResponse)).pipe(
      catchError((error: unknown) => {
        // the time starts at the first failure, and counts in full because it is a deadline
        const tookMs = isRepeated ? asyncScheduler.now() - sentAt : 0;
        const budget = attempts.budget.spend(tookMs, Infinity);
        return retryOrEnd(execution, { ...attempts, budget }, error);
      }),
    );
  });

/** The minimum time for an attempt, in milliseconds, even if the total time is nearly used up. */
const minAttemptMs = 5_000;

const timeLeftMs = ({ budget }: Attempts): number => Math.max(minAttemptMs, budget.leftMs);

/** Ends the submission if its outcome is known or the time is used up. Otherwise, sends it again after a delay. */
function retryOrEnd(execution: Execution, attempts: Attempts, error: unknown): Observable<Transaction> {
  if (!isLedgerError(error) || error._tag === 'InvalidRequestError') throw error;
  const { budget } = attempts;
  const count = budget.failures + 1;
  const submission = { ...execution.submission, attempts: count };
  const outcome = decideOutcome(error);
  const wasUnknown = attempts.isUnknown || execution.mayBeCommittedElsewhere();
  if (isApiError(error)) {
    if (outcome === 'committed') return readCommitted(execution, submission, error, timeLeftMs(attempts));
    // only a verdict on the submission itself proves that no earlier attempt was committed
    if (outcome === 'expired' && !(wasUnknown && error.errorCategory === 8))
      throw new SubmissionExpiredError(error, submission);
    if (outcome === 'rejected' || (outcome === 'inconclusive' && !wasUnknown))
      throw new SubmissionRejectedError(error, submission);
  }
  const isUnknown = wasUnknown || outcome === 'unknown';
  if (!isUnknown && isUnauthorizedError(error)) throw error;
  if (!isUnknown && (isConnectionError(error) || isTokenError(error)))
    throw new NotSentError(error.reason, submission, 'code' in error ? error.code : undefined);
  if (budget.leftMs <= 0) {
    if (!isUnknown && isApiError(error)) throw new SubmissionRejectedError(error, submission);
    throw new OutcomeUnknownError(submission, error);
  }
  const delayMs = budget.nextDelayMs(retryAfterOf(error));
  const { submissionId } = submission;
  const { report } = execution.service.link;
  report(() => ({ _tag: 'SubmissionUnclear', submissionId, attempts: count, cause: error, delayMs }));
  return timer(clampTimer(delayMs)).pipe(
    concatMap(() => attempt(execution, { isUnknown, budget: budget.countFailure(delayMs) })),
  );
}

/** Reports the outcome of a submission. */
export const reportOutcome = (link: Link, submissionId: string): MonoTypeOperatorFunction<Transaction> =>
  pipe(
    tap(({ updateId, offset }) => {
      link.report(() => ({ _tag: 'SubmissionCommitted', submissionId, updateId, offset }));
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
