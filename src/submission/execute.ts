import {
  asyncScheduler,
  catchError,
  concatMap,
  defaultIfEmpty,
  defer,
  EMPTY,
  map,
  type Observable,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import { ExecuteRequest } from '../codecs/ExecuteRequest.js';
import type { Base64 } from '../codecs/scalars.js';
import type { Transaction } from '../codecs/Transaction.js';
import { isOutcomeUnknownError, type Submission } from '../errors/submission.js';
import { ledgerEnd } from '../feed/ledgerEnd.js';
import type { Service } from '../feed/Service.js';
import { validateRequest } from '../http/exchange.js';
import type { Link } from '../http/Link.js';
import { RetryBudget, retryPolicy, type RetryPolicy } from '../http/retry.js';
import { attempt, reportOutcome } from './attempt.js';
import { randomUuid } from './Execution.js';
import { type ExecuteOptions, recoveryTimeMs } from './SubmitOptions.js';

/** When a change was first sent, and the ledger end at that time. */
type Start = Pick<Submission, 'sentAt' | 'beginExclusive'>;

/**
 * Executes signed submissions of one change, and determines the outcome if a response is lost. All subscriptions share
 * the start of the change and the number of subscriptions that may have committed it. Therefore, the ledger commits the
 * change once, however often it is sent, and a subscription does not report a rejection if another may have committed
 * the change.
 */
export function executor(
  service: Service,
  options: ExecuteOptions,
  ledgerRetry: RetryPolicy | undefined,
  commandId?: string,
): (request: ExecuteRequest, transactionHash?: Base64) => Observable<Transaction> {
  const policy = retryPolicy(ledgerRetry);
  const retry = {
    ...policy,
    maxDelayMs: Math.min(policy.maxDelayMs, maxRetryDelayMs),
    giveUpAfterMs: recoveryTimeMs(options),
  };
  let firstStart: Start | undefined;
  let possibleCommits = 0;
  return (request, transactionHash = options.transactionHash) =>
    defer(() => {
      const submissionId = request.submissionId ?? randomUuid();
      const start$ = defer(() => (firstStart === undefined ? markStart(service.link) : [firstStart]));
      return defer(() => {
        const validated = validateRequest(ExecuteRequest, request);
        return start$.pipe(concatMap((start) => execution(validated, start, submissionId, transactionHash)));
      }).pipe(reportOutcome(service.link, submissionId));
    });

  function execution(
    request: ExecuteRequest,
    start: Start,
    submissionId: string,
    transactionHash: Base64 | undefined,
  ): Observable<Transaction> {
    // another subscription may have started in the meantime
    const isFirst = firstStart === undefined;
    firstStart ??= start;
    const submission = {
      submissionId,
      userId: request.userId ?? '',
      parties: request.partySignatures.signatures.map(({ party }) => party),
      ...firstStart,
      ...(transactionHash !== undefined && { transactionHash }),
    };
    possibleCommits += 1;
    const mayBeCommittedElsewhere = (): boolean => possibleCommits > 1;
    return attempt(
      { service, request, submission, isFirst, mayBeCommittedElsewhere, retry, commandId },
      { isUnknown: false, budget: new RetryBudget(retry) },
    ).pipe(
      tap({
        error: (error: unknown) => {
          if (!isOutcomeUnknownError(error)) possibleCommits -= 1;
        },
      }),
    );
  }
}

/** The longest delay before a submission is sent again, in milliseconds: a user may be waiting. */
const maxRetryDelayMs = 5_000;

/** How long to wait for the ledger end, in milliseconds. It must not delay a submission for long. */
const ledgerEndTimeoutMs = 5_000;

/**
 * Reads the ledger end before a change is sent. If the change is committed, its offset is greater, so that a search for
 * it need not look further back.
 */
const markStart = (link: Link): Observable<Start> => {
  const end$ = ledgerEnd(link).pipe(
    map((beginExclusive) => ({ beginExclusive })),
    catchError(() => EMPTY),
    takeUntil(timer(ledgerEndTimeoutMs)),
    defaultIfEmpty({}),
  );
  return end$.pipe(map((end) => ({ sentAt: asyncScheduler.now(), ...end })));
};
