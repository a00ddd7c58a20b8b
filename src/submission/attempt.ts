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
import { isConnectionError, isTokenError } from '../errors/request.js';
import {
  NotSentError,
  OutcomeUnknownError,
  SubmissionExpiredError,
  SubmissionRejectedError,
} from '../errors/submission.js';
import { type Call, decodeWith, exchange } from '../http/exchange.js';
import type { Link } from '../http/Link.js';
import { clampTimer, waitBefore } from '../http/retry.js';
import { outcomeOf } from './outcome.js';
import { readCommitted } from './readCommitted.js';
import { attemptBody, type Sending, type Attempts } from './Sending.js';

const path = '/v2/interactive-submission/executeAndWaitForTransaction';

/** Sends a submission, and goes on until what became of it is known, or the time is over. */
export const attempt = (sending: Sending, tried: Attempts): Observable<Transaction> =>
  defer(() => {
    const { service, submission } = sending;
    const { link } = service;
    const { submissionId } = submission;
    const attempts = tried.attempts + 1;
    const sentAt = asyncScheduler.now();
    link.report(() => ({ _tag: 'SubmissionSent', submissionId, attempt: attempts }));
    const call: Call = {
      method: 'POST',
      path,
      isSubmission: true,
      bodyAt: () => attemptBody(sending, attempts),
      ...(attempts > 1 && { timeoutMs: Math.min(link.requestTimeoutMs, leftOf(sending, tried)) }),
    };
    return exchange(link, call, decodeWith(path, ExecuteResponse)).pipe(
      catchError((error: unknown) => {
        const tookMs = attempts === 1 ? 0 : Math.max(0, asyncScheduler.now() - sentAt);
        return afterFailure(sending, { ...tried, attempts, spentMs: tried.spentMs + tookMs }, error);
      }),
    );
  });

/** The least that a try is given, also when the time is nearly over. */
const leastMs = 5_000;

const leftOf = ({ withinMs }: Sending, { spentMs }: Attempts): number => Math.max(leastMs, withinMs - spentMs);

function afterFailure(sending: Sending, tried: Attempts, error: unknown): Observable<Transaction> {
  if (!isLedgerError(error) || error._tag === 'InvalidRequestError') throw error;
  const submission = { ...sending.submission, attempts: tried.attempts };
  const outcome = outcomeOf(error);
  const wasUnknown = tried.isUnknown || sending.isOpenElsewhere();
  if (isApiError(error)) {
    if (outcome === 'committed') return readCommitted(sending, submission, error, leftOf(sending, tried));
    // without a verdict it says nothing of an earlier try
    if (outcome === 'expired' && !(wasUnknown && error.errorCategory === 8))
      throw new SubmissionExpiredError(error, submission);
    if (outcome === 'rejected' || (outcome === 'unheard' && !wasUnknown))
      throw new SubmissionRejectedError(error, submission);
  }
  const isUnknown = wasUnknown || outcome === 'unknown';
  if (!isUnknown && outcome === 'unheard') throw error;
  if (!isUnknown && (isConnectionError(error) || isTokenError(error)))
    throw new NotSentError(error.reason, submission, 'code' in error ? error.code : undefined);
  const left = sending.withinMs - tried.spentMs;
  if (left <= 0) {
    if (!isUnknown && isApiError(error)) throw new SubmissionRejectedError(error, submission);
    throw new OutcomeUnknownError(submission, error);
  }
  const delayMs = Math.min(left, waitBefore(tried.attempts - 1, error, sending.retry));
  const { submissionId } = submission;
  const { report } = sending.service.link;
  report(() => ({ _tag: 'SubmissionUnclear', submissionId, attempts: tried.attempts, cause: error, delayMs }));
  return timer(clampTimer(delayMs)).pipe(
    concatMap(() => attempt(sending, { ...tried, isUnknown, spentMs: tried.spentMs + delayMs })),
  );
}

/** Tells what became of a submission. */
export const reportOutcome = (link: Link, submissionId: string): MonoTypeOperatorFunction<Transaction> =>
  pipe(
    tap(({ updateId, offset }) => {
      link.report(() => ({ _tag: 'SubmissionCommitted', submissionId, updateId, offset }));
    }),
    tellFailure(link, submissionId),
  );

/** Tells that a submission failed. */
export const tellFailure = <A>({ report }: Link, submissionId: string): MonoTypeOperatorFunction<A> =>
  tap({
    error: (error: unknown) => {
      report(() => ({ _tag: 'SubmissionFailed', submissionId, ...(isLedgerError(error) && { error }) }));
    },
  });
