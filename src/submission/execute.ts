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
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import { type Submission } from '../errors/submission.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { ledgerEnd } from '../feed/ledgerEnd.js';
import type { Service } from '../feed/Service.js';
import { startAge } from '../http/clock.js';
import { validateRequest } from '../http/exchange.js';
import type { Link } from '../http/Link.js';
import { checkPositive, RetryBudget, retryPolicy, type RetryPolicy } from '../http/retry.js';
import { attempt, executePath as path, reportOutcome } from './attempt.js';
import { randomUuid } from './Execution.js';
import { Home } from './Home.js';

/**
 * Options for the recovery from a lost response.
 *
 * @inline
 */
interface Recovery {
  /** How long to attempt the recovery after the first failure, in milliseconds. */
  readonly withinMs: number;
}

/**
 * Options for executing a submission.
 *
 * @category Submission
 */
export interface ExecuteOptions {
  /**
   * How to determine the outcome of a submission whose response was lost. The client sends the same signed bytes again,
   * with a new submission id, and the ledger refuses what it has already committed. `withinMs` limits the time from the
   * first failure, in milliseconds; the last attempt may take 5 seconds longer. `false` sends the submission only once.
   *
   * @defaultValue `{ withinMs: 120_000 }`
   */
  readonly recover?: Recovery | false | undefined;
  /**
   * The signed hash, as returned by `prepare`. After a lost response, the client looks for the transaction by this hash.
   * Errors show it, so that you can look for it later.
   */
  readonly transactionHash?: Base64 | undefined;
}

/** When a change was first sent, and the ledger end at that time. */
type Start = Pick<Submission, 'sentAt' | 'since'>;

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
): (request: ExecuteRequest, transactionHash?: Base64) => Observable<SubmittedTransaction> {
  const policy = retryPolicy(ledgerRetry);
  const retry = {
    ...policy,
    maxDelayMs: Math.min(policy.maxDelayMs, maxRetryDelayMs),
    giveUpAfterMs: recoveryTimeMs(options),
  };
  let firstStart: Start | undefined;
  let sinceSentMs = startAge();
  let possibleCommits = 0;
  const home = new Home(service, () => {
    firstStart = undefined;
  });
  return (request, transactionHash = options.transactionHash) =>
    defer(() => {
      const submissionId = request.submissionId ?? randomUuid();
      return defer(() => {
        const validated = validateRequest(ExecuteRequest, request);
        const named = {
          submissionId,
          userId: validated.userId ?? '',
          actAs: validated.partySignatures.signatures.map(({ party }) => party),
          ...(transactionHash !== undefined && { transactionHash }),
        };
        const unsent = { ...named, sentAt: asyncScheduler.now(), attempts: 0 };
        const isOpen = (): boolean => possibleCommits > 0;
        return home.submit(path, unsent, isOpen, (located) =>
          defer(() => (firstStart === undefined ? markStart(located.link) : [firstStart])).pipe(
            concatMap((start) => execution(located, validated, start, named)),
          ),
        );
      }).pipe(reportOutcome(service.link, submissionId));
    });

  function execution(
    located: Service,
    request: ExecuteRequest,
    start: Start,
    named: Pick<Submission, 'submissionId' | 'userId' | 'actAs' | 'transactionHash'>,
  ): Observable<SubmittedTransaction> {
    // another subscription may have started in the meantime
    const isFirst = firstStart === undefined;
    if (isFirst) sinceSentMs = startAge();
    firstStart ??= start;
    const submission = { ...named, ...firstStart };
    possibleCommits += 1;
    const mayBeCommittedElsewhere = (): boolean => possibleCommits > 1;
    return attempt(
      { service: located, request, submission, sinceSentMs, isFirst, mayBeCommittedElsewhere, retry, commandId },
      { sent: 0, isUnknown: false, budget: new RetryBudget(retry) },
    ).pipe(
      tap({
        error: (error: unknown) => {
          if (!isLedgerError(error, 'OutcomeUnknownError')) possibleCommits -= 1;
        },
      }),
    );
  }
}

/** The longest delay before a submission is sent again, in milliseconds: a user may be waiting. */
export const maxRetryDelayMs = 5_000;

/** How long to wait for the ledger end, in milliseconds. It must not delay a submission for long. */
const ledgerEndTimeoutMs = 5_000;

/**
 * Reads the ledger end before a change is sent. If the change is committed, its offset is greater, so that a search for
 * it need not look further back.
 */
const markStart = (link: Link): Observable<Start> => {
  const end$ = ledgerEnd(link).pipe(
    map((since) => ({ since })),
    catchError(() => EMPTY),
    takeUntil(timer(ledgerEndTimeoutMs)),
    defaultIfEmpty({}),
  );
  return end$.pipe(map((end) => ({ sentAt: asyncScheduler.now(), ...end })));
};

/** Returns the time for the recovery in milliseconds; 0 for none. Throws a TypeError if the time is out of range. */
export function recoveryTimeMs({ recover = { withinMs: 120_000 } }: Pick<ExecuteOptions, 'recover'>): number {
  if (recover === false) return 0;
  checkPositive({ 'recover.withinMs': recover.withinMs });
  return recover.withinMs;
}
