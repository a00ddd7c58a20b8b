import { defer, type Observable } from 'rxjs';
import { ExecuteRequest } from '../codecs/ExecuteRequest.js';
import type { Base64 } from '../codecs/scalars.js';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import type { Service } from '../feed/Service.js';
import { validateRequest } from '../http/exchange.js';
import { checkPositive, type CompleteRetryPolicy, retryPolicy, type RetryPolicy } from '../http/retry.js';
import { reportOutcome } from './attempt.js';
import { Change } from './Change.js';
import type { StartsOf } from './LedgerStart.js';
import { randomUuid } from './Run.js';
import { signed } from './signed.js';

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

/**
 * Returns the function that executes signed submissions of one change, and determines their outcome.
 *
 * @param commandId - that of the signed bytes, if it is known
 */
export function executor(
  service: Service,
  startsOf: StartsOf,
  options: ExecuteOptions,
  ledgerRetry: RetryPolicy | undefined,
  commandId?: string,
): (request: ExecuteRequest, transactionHash?: Base64) => Observable<SubmittedTransaction> {
  const retry = submissionRetry(ledgerRetry, recoveryTimeMs(options));
  const change = new Change(service, startsOf, commandId);
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
        return change.submit({ named, retry, strategy: signed(validated, transactionHash) });
      }).pipe(reportOutcome(service.link, submissionId));
    });
}

/** The retry policy of a submission; `giveUpAfterMs` is 0 for a single attempt. */
export function submissionRetry(ledgerRetry: RetryPolicy | undefined, giveUpAfterMs: number): CompleteRetryPolicy {
  const policy = retryPolicy(ledgerRetry);
  return { ...policy, maxDelayMs: Math.min(policy.maxDelayMs, maxRetryDelayMs), giveUpAfterMs };
}

/** The longest delay before a submission is sent again, in milliseconds: a user may be waiting. */
const maxRetryDelayMs = 5_000;

/** Returns the time for the recovery in milliseconds; 0 for none. Throws a TypeError if the time is out of range. */
export function recoveryTimeMs({ recover = { withinMs: 120_000 } }: Pick<ExecuteOptions, 'recover'>): number {
  if (recover === false) return 0;
  checkPositive({ 'recover.withinMs': recover.withinMs });
  return recover.withinMs;
}
