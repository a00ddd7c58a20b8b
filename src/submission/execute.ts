import { asyncScheduler, catchError, concatMap, defer, map, type Observable, of, tap, timeout } from 'rxjs';
import { ExecuteRequest } from '../codecs/ExecuteRequest.js';
import type { Base64 } from '../codecs/scalars.js';
import type { Transaction } from '../codecs/Transaction.js';
import { isOutcomeUnknownError, type Submission } from '../errors/submission.js';
import { ledgerEnd } from '../feed/ledgerEnd.js';
import type { Service } from '../feed/Service.js';
import { validateRequest } from '../http/exchange.js';
import type { Link } from '../http/Link.js';
import { retryPolicy, type RetryPolicy } from '../http/retry.js';
import { attempt, reportOutcome } from './attempt.js';
import { randomUuid } from './Sending.js';
import { type ExecuteOptions, withinMsOf } from './SubmitOptions.js';

/** The longest wait before a submission is sent again: somebody wants to know. */
const longestWaitMs = 5_000;

/** When a change was sent first, and where the ledger ended then. */
type Start = Pick<Submission, 'sentAt' | 'beginExclusive'>;

/**
 * Executes signed submissions of one change, and finds out what became of it where an answer is lost. When the change was
 * sent first, and how many of its subscriptions may have committed it, is kept from one to the next, so that the ledger
 * commits it once however often it is sent, and none is told that nothing was committed.
 */
export function executor(
  service: Service,
  options: ExecuteOptions,
  ledgerRetry: RetryPolicy | undefined,
  commandId?: string,
): (request: ExecuteRequest, transactionHash?: Base64) => Observable<Transaction> {
  const withinMs = withinMsOf(options);
  const policy = retryPolicy(ledgerRetry);
  const retry = { ...policy, maxDelayMs: Math.min(policy.maxDelayMs, longestWaitMs), giveUpAfterMs: withinMs };
  let first: Start | undefined;
  let open = 0;
  return (request, transactionHash = options.transactionHash) =>
    defer(() => {
      const submissionId = request.submissionId ?? randomUuid();
      const begun$ = first === undefined ? markStart(service.link) : of(first);
      return defer(() => {
        const body = validateRequest(ExecuteRequest, request);
        return begun$.pipe(concatMap((begun) => execution(body, begun, submissionId, transactionHash)));
      }).pipe(reportOutcome(service.link, submissionId));
    });

  function execution(
    request: ExecuteRequest,
    begun: Start,
    submissionId: string,
    transactionHash: Base64 | undefined,
  ): Observable<Transaction> {
    // another subscription may have been quicker
    const isFirst = first === undefined;
    first ??= begun;
    const submission = {
      submissionId,
      userId: request.userId ?? '',
      parties: request.partySignatures.signatures.map(({ party }) => party),
      ...first,
      ...(transactionHash !== undefined && { transactionHash }),
    };
    open += 1;
    const isOpenElsewhere = (): boolean => open > 1;
    const sending = { service, request, submission, isFirst, isOpenElsewhere, withinMs, retry, commandId };
    return attempt(sending, { attempts: 0, isUnknown: false, spentMs: 0 }).pipe(
      tap({
        error: (error: unknown) => {
          if (!isOutcomeUnknownError(error)) open -= 1;
        },
      }),
    );
  }
}

/** How long the ledger end may take: a submission is not held up for it. */
const endWithinMs = 5_000;

/**
 * Asks for the ledger end before a change is sent: whatever becomes of it lies after that, and neither the ledger nor
 * anybody else has to look further back.
 */
const markStart = (link: Link): Observable<Start> =>
  defer(() => ledgerEnd(link)).pipe(
    timeout(endWithinMs),
    map((beginExclusive) => ({ beginExclusive })),
    catchError(() => of({})),
    map((end) => ({ sentAt: asyncScheduler.now(), ...end })),
  );
