import {
  catchError,
  concat,
  concatAll,
  concatMap,
  defaultIfEmpty,
  defer,
  EMPTY,
  map,
  type Observable,
  of,
  throwError,
  timer,
} from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import { bareOffset } from '../codecs/LedgerPosition.js';
import { OutcomeUnknownError, isLedgerError, type LedgerError } from '../errors/LedgerError.js';
import { NotSentError, type Submission } from '../errors/submission.js';
import { TokenError } from '../errors/request.js';
import { userOf } from '../client/claims.js';
import { isRefusedAlone } from '../history/participant.js';
import { monotonicNow } from '../http/clock.js';
import { clampTimer, type RetryBudget } from '../http/retry.js';
import type { Proof } from './codes.js';
import { noContracts } from './usedContracts.js';
import { readMeanwhile, searchMeanwhile, settleWithin } from './decideByReading.js';
import { readDuplicate } from './findOut.js';
import { proveStart, replacement } from './LedgerStart.js';
import { earliestOffset, mayRepeat, minDelayMs, prove, refusalOf } from './outcome.js';
import { readCommitted } from './readCommitted.js';
import type { Run, UsedContracts } from './Run.js';
import { sendAttempt } from './send.js';

/** The state of the attempts of one subscription. */
interface Attempts {
  /** The number of attempts so far. */
  readonly sent: number;
  /** Whether one of them, or an attempt before this subscription, may have been committed. */
  readonly isOpen: boolean;
  /** Whether reading has shown that none was and none will be committed. */
  readonly isClosed?: boolean;
  /** How many of them ended with an error that is only repeated a few times. */
  readonly limited: number;
  /** Where a period begins that the participant accepts, after it was pruned within the requested one. */
  readonly earliest?: Offset;
  /** Whether the completions are being read during the attempts. */
  readonly isWatched?: boolean;
  /** The remaining time for further attempts. It counts the failed attempts. */
  readonly budget: RetryBudget;
}

/**
 * Sends a change, decides what the answer proves, determines what that leaves open, and sends the change again, until the
 * outcome is known or the time is used up. An attempt that may have been committed is followed by the same change.
 */
export const attempt = (run: Run, attempts: Attempts): Observable<SubmittedTransaction> =>
  defer(() => {
    const startedAt = monotonicNow();
    const isResent = isOpen(run, attempts);
    const withinMs = attempts.sent > 0 || isResent ? timeLeftMs(attempts) : Infinity;
    const leftMs = (): number => startedAt + withinMs - monotonicNow();
    const { strategy } = run;
    // a participant that shows the commit need not receive the change again
    const found$ = isResent ? strategy.lookUp(run, withinMs / 2) : EMPTY;
    const named = { ...run.submission, attempts: attempts.sent + 1 };
    const after = (): Attempts => {
      // the time starts at the first failure, and counts in full because it is a deadline
      const tookMs = attempts.sent > 0 ? monotonicNow() - startedAt : 0;
      return { ...attempts, sent: named.attempts, budget: attempts.budget.spend(tookMs, Infinity) };
    };
    const fail = (error: unknown): Observable<SubmittedTransaction> => retryOrEnd(run, after(), error);
    const read = (offset: Offset): Observable<SubmittedTransaction> =>
      readCommitted(run, { ...run.submission, attempts: attempts.sent }, offset, leftMs());
    const send = ({ disclosed, archivedAt, committedAt }: UsedContracts): Observable<SubmittedTransaction> => {
      if (committedAt !== undefined) return read(committedAt);
      const key = { isResent, disclosed, earliest: attempts.earliest };
      const request = {
        path: strategy.path,
        makeBody: (): object => strategy.body(run, key),
        checkToken: ofOneUser(run, { ...run.submission, attempts: attempts.sent }, isResent),
      };
      // what was read before may have taken all of the time, or the process was stopped meanwhile
      const timeoutMs = Math.min(run.client.requestTimeoutMs, Math.max(minAttemptMs, leftMs()));
      const sent$ = sendAttempt(run, named, request, timeoutMs).pipe(
        concatMap((transaction) => strategy.finish(run, named, isResent, transaction, withinMs)),
        catchError(fail),
      );
      if (archivedAt === undefined || run.retry.giveUpAfterMs === 0) return sent$;
      const resend = (): Observable<SubmittedTransaction> => attempt(run, { ...after(), isClosed: true });
      return searchMeanwhile(run, named, archivedAt, leftMs, sent$, resend);
    };
    const unsent = (error: unknown): Observable<SubmittedTransaction> => {
      const budget = attempts.budget.spend(monotonicNow() - startedAt, Infinity);
      return retryOrEnd(run, { ...attempts, budget }, error, true);
    };
    const prepared$ = isResent ? strategy.prepareResend(run) : concat(proveParticipant(run), of(noContracts));
    const send$ = prepared$.pipe(
      map(send),
      catchError((error: unknown) => of(isResent ? fail(error) : unsent(error))),
      concatAll(),
    );
    return found$.pipe(map(read), defaultIfEmpty(send$), concatAll());
  });

/**
 * Completes if the participant is the one that was seen before, while nothing is committed that could show more. Without one, nothing
 * can be compared. For the first attempt, a start that was read shows that by itself. Signed bytes are for one synchronizer.
 */
const proveParticipant = (run: Run): Observable<never> => {
  const { start, change, strategy } = run;
  const { participantId = change.participantId, isUnread = false } = start;
  const isFirst = change.submissionIds.size === 0;
  if (strategy.kind !== 'hosted' || participantId === undefined || (isFirst && !isUnread)) return EMPTY;
  return proveStart({ ...run, start: { ...bareOffset(0), participantId } }).pipe(
    // the last update is the proof if a gateway has come to block the path of the id
    catchError((error: unknown) => (isRefusedAlone(error) ? proveStart(run) : throwError(() => error))),
  );
};

/**
 * Returns the check of the token of an attempt. If a request has no user ID, the participant uses the user of its token, and it
 * deduplicates changes per user. Sent again with the token of another user, a committed change would be committed twice.
 */
const ofOneUser =
  ({ change, strategy }: Run, named: Submission, isResent: boolean) =>
  (token: string | undefined): void => {
    if (strategy.kind !== 'hosted' || named.userId !== '') return;
    const user = userOf(token);
    if (!isResent || change.user === undefined) change.user = user;
    else if (user !== undefined && user !== change.user)
      throw new OutcomeUnknownError(named, new TokenError('it is of another user than that of an earlier attempt'));
  };

const isOpen = (run: Run, attempts: Attempts): boolean =>
  attempts.isClosed !== true && (attempts.isOpen || run.mayBeCommittedElsewhere());

/** The minimum time for an attempt, in milliseconds, even if the total time is nearly used up. */
const minAttemptMs = 5_000;

/** The time for one more attempt, in milliseconds. */
const timeLeftMs = ({ budget }: Attempts): number => Math.max(minAttemptMs, budget.leftMs);

/**
 * Ends if the outcome is known or the time is used up. Otherwise, determines it or sends the change again.
 *
 * @param isUnsent - whether the error is of a request before the attempt, which was not sent
 */
function retryOrEnd(run: Run, attempts: Attempts, error: unknown, isUnsent = false): Observable<SubmittedTransaction> {
  if (!isLedgerError(error) || isLedgerError(error, 'InvalidRequestError', 'OutcomeUnknownError')) throw error;
  const named = { ...run.submission, attempts: attempts.sent };
  if (isLedgerError(error, 'LedgerResetError'))
    // another subscription may have sent it meanwhile
    throw isUnsent && !isOpen(run, attempts)
      ? new NotSentError(replacement(error), named)
      : new OutcomeUnknownError(named, error);
  const { strategy, retry } = run;
  const answer = prove(error, strategy.kind, strategy.hasNames && !isOpen(run, attempts));
  const proof: Proof = isUnsent ? { ...answer, outcome: 'notSent' } : answer;
  if (isLedgerError(error, 'ApiError') && proof.outcome === 'committed')
    return readDuplicate(run, named, error, timeLeftMs(attempts));
  const next = { ...attempts, ...afterProof(attempts, proof) };
  const mayBeCommitted = isOpen(run, next);
  const later = beginLater(run, next, error, mayBeCommitted);
  if (later !== undefined) return later;
  const { budget } = attempts;
  const isAnswered = !mayRepeat(proof.again, next.limited, mayBeCommitted);
  const canSettle = isLedgerError(error, 'ApiError') && strategy.canSettle;
  // bytes whose hash is unknown cannot be found, but the ledger refuses them as a duplicate
  const isEnd = budget.leftMs <= 0 || (isAnswered && (canSettle || !mayBeCommitted));
  if (isEnd && !mayBeCommitted)
    throw proof.outcome === 'unknown' ? new OutcomeUnknownError(named, error) : refusalOf(error, named, proof.outcome);
  if (isEnd) {
    // a participant that refuses to answer may still show what it has committed
    const isLate = !isAnswered && (strategy.kind === 'signed' || retry.giveUpAfterMs === 0);
    if (!canSettle || isLate) throw new OutcomeUnknownError(named, error);
    return settleWithin(run, named, error, proof.outcome, timeLeftMs(attempts));
  }
  const delayMs = budget.nextDelayMs(minDelayMs(error));
  const resent: Attempts = { ...next, budget: budget.countFailure(delayMs) };
  if (!mayBeCommitted || resent.isWatched === true)
    return resendAfter(delayMs, run, named, error, () => attempt(run, resent));
  const resend$ = resendAfter(delayMs, run, named, error, () => attempt(run, { ...resent, isWatched: true }));
  return readMeanwhile(run, named, budget.leftMs, resend$);
}

/** What an error shows of this attempt and of the earlier ones. */
const afterProof = (
  { isOpen, limited }: Attempts,
  { outcome, again }: Proof,
): Pick<Attempts, 'isOpen' | 'limited'> => ({
  // a registered attempt proves that no earlier one was committed or in flight
  isOpen: outcome !== 'rejected' && (isOpen || outcome === 'unknown' || outcome === 'inFlight'),
  limited: limited + (again === 'twice' || again === 'thrice' ? 1 : 0),
});

/**
 * Begins later, where the participant is pruned; `undefined` if that would not reach back to an attempt that may have been
 * committed. A period that the caller requests stays as it is.
 */
function beginLater(
  run: Run,
  attempts: Attempts,
  error: LedgerError,
  mayBeCommitted: boolean,
): Observable<SubmittedTransaction> | undefined {
  const earliest = earliestOffset(error);
  if (earliest === undefined || earliest === attempts.earliest) return undefined;
  // a participant may name another one each time
  if (attempts.sent > 1 && attempts.budget.leftMs <= 0) return undefined;
  if (earliest <= run.start.offset)
    return run.strategy.isPeriodOpen ? attempt(run, { ...attempts, earliest }) : undefined;
  // nothing that was sent before was or will be committed, so any offset is before it
  return mayBeCommitted ? undefined : attempt(run.beginAt(earliest), { ...attempts, earliest });
}

/** Sends a change again after a delay. */
function resendAfter(
  delayMs: number,
  { report }: Run,
  { submissionId, attempts }: Submission,
  cause: LedgerError,
  resend: () => Observable<SubmittedTransaction>,
): Observable<SubmittedTransaction> {
  return defer(() => {
    report(() => ({ _tag: 'SubmissionUnclear', submissionId, attempts, cause, delayMs }));
    return timer(clampTimer(delayMs));
  }).pipe(concatMap(resend));
}
