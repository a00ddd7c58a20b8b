import { catchError, concat, concatMap, defer, EMPTY, type Observable, of, takeUntil, timer } from 'rxjs';
import { ExecuteRequest } from '../codecs/ExecuteRequest.js';
import { fromBase64 } from '../codecs/internal/field.js';
import { Base64, type Offset } from '../codecs/scalars.js';
import { CompletionsByHash, type SubmittedTransaction } from '../codecs/Transaction.js';
import type { Client } from '../client/Client.js';
import { decodeWith, exchange, validateRequest } from '../client/exchange.js';
import { checkPositive } from '../codecs/internal/numbers.js';
import { clampTimer, type CompleteRetryPolicy, retryPolicy, type RetryPolicy } from '../http/retry.js';
import { Change, reportFailure } from './Change.js';
import { attemptMs, deduplicationPeriod, isLongest } from './deduplication.js';
import { proveStart } from './LedgerStart.js';
import type { StartsOf } from './LedgerStarts.js';
import { type AttemptKey, nextId, randomUuid, type Run, type Strategy } from './Run.js';
import { hasHash, keepRequest } from './send.js';
import { submissionReport } from './submitter.js';
import { noContracts } from './usedContracts.js';

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
   * first failure, in milliseconds; the last attempt may take 5 seconds longer, after what is read before it. `false` sends the
   * submission only once.
   *
   * @defaultValue `{ withinMs: 120_000 }`
   */
  readonly recover?: Recovery | false | undefined;
  /**
   * The signed hash, as returned by `prepare`: 32 bytes in base64. After a lost response, the client looks for the transaction
   * by this hash. Errors show it, so that you can look for it later.
   */
  readonly transactionHash?: Base64 | undefined;
}

/** Returns the function that executes a signed submission as it is now, and determines its outcome. */
export function execution(
  startsOf: StartsOf,
  request: ExecuteRequest,
  options: ExecuteOptions,
  ledgerRetry: RetryPolicy | undefined,
): (client: Client) => Observable<SubmittedTransaction> {
  const execute = executor(startsOf, options, ledgerRetry);
  const { transactionHash } = options;
  // no transaction has another one, so that what was committed would not be found
  if (transactionHash !== undefined && !isTransactionHash(transactionHash))
    throw new TypeError('transactionHash must be the 32 bytes of preparedTransactionHash, in base64');
  const kept = keepRequest(() => validateRequest(ExecuteRequest, request));
  return (client) => execute(client, kept, transactionHash);
}

/** The length of a transaction's hash in bytes. Other hashes, such as that of a topology transaction, are longer. */
const hashBytes = 32;

/** Whether a text is the hash of a transaction, in base64. In hex, it is base64 of more bytes. */
export const isTransactionHash = (text: unknown): text is Base64 =>
  Base64.is(text) && fromBase64(text).length === hashBytes;

/**
 * Returns the function that executes signed submissions of one change, and determines their outcome. Each is a function that
 * returns a valid request, or throws.
 *
 * @param commandId - that of the signed bytes, if it is known
 */
export function executor(
  startsOf: StartsOf,
  options: Pick<ExecuteOptions, 'recover'>,
  ledgerRetry: RetryPolicy | undefined,
  commandId?: string,
): (client: Client, request: () => ExecuteRequest, transactionHash?: Base64) => Observable<SubmittedTransaction> {
  const retry = submissionRetry(ledgerRetry, recoveryTimeMs(options));
  const change = new Change(startsOf, commandId);
  return (client, request, transactionHash) =>
    defer(() => {
      const id = randomUuid();
      return defer(() => [request()]).pipe(
        reportFailure(submissionReport(client, commandId), id),
        concatMap((validated) => {
          const named = {
            submissionId: validated.submissionId ?? id,
            userId: validated.userId ?? '',
            actAs: validated.partySignatures.signatures.map(({ party }) => party),
            ...(transactionHash !== undefined && { transactionHash }),
          };
          // whoever knows the command id has made the submission id, too
          const givenId = commandId === undefined ? (validated.submissionId ?? undefined) : undefined;
          return change.submit(client, { named, retry, strategy: signed(validated, transactionHash, givenId) });
        }),
      );
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
  // JavaScript may pass anything; without a time, it would never end
  const { withinMs = Number.NaN } = { ...(recover as Partial<Recovery> | null) };
  checkPositive({ 'recover.withinMs': withinMs });
  return withinMs;
}

/** The path that executes signed submissions. */
const path = '/v2/interactive-submission/executeAndWaitForTransaction';

/**
 * Submits bytes that a party has signed. All attempts have the same bytes, which are the change. Their transaction has the hash
 * of the bytes, on all participants of the party.
 */
const signed = (
  request: ExecuteRequest,
  transactionHash: Base64 | undefined,
  givenId: string | undefined,
): Strategy => ({
  kind: 'signed',
  path,
  format: request.transactionFormat,
  readAs: [],
  held: {},
  givenId,
  hasNames: false,
  isPeriodOpen: isLongest(request.deduplicationPeriod),
  isSinceStart: false,
  reachMs: -Infinity,
  canSettle: transactionHash !== undefined,
  body: (run, attempt) => executeBody(request, run, attempt),
  // an offset of another ledger would not cover the attempts that this one has received
  prepareResend: (run) =>
    'DeduplicationOffset' in (request.deduplicationPeriod ?? {}) && run.start.isUnread !== true
      ? concat(proveStart(run), of(noContracts))
      : of(noContracts),
  lookUp: (run, withinMs) => completedAt(run, transactionHash).pipe(takeUntil(timer(clampTimer(withinMs)))),
  finish: (_run, _named, _isResent, transaction) => of(transaction),
  // other refusals name contracts that the transaction creates
  inputs: ({ code = '', contractIds }) => (/INACTIVE_CONTRACTS$|^CONTRACT_NOT_/.test(code) ? contractIds : []),
  isCandidate: (_run, update) => update._tag === 'Transaction' && hasHash(update, transactionHash) === true,
  isCertain: true,
});

/**
 * Creates the body of an attempt. Its deduplication period covers the earlier ones, also if it is the single attempt of a call:
 * another call or process may send the same bytes.
 */
function executeBody(request: ExecuteRequest, run: Run, { earliest }: AttemptKey): ExecuteRequest {
  const { start, client } = run;
  const { submissionId, isLater } = nextId(run, randomUuid);
  return {
    ...request,
    submissionId,
    deduplicationPeriod: deduplicationPeriod({
      requested: request.deduplicationPeriod,
      since: start.isUnread === true ? undefined : start.offset,
      earliest,
      isLater,
      ageMs: run.ageMs(),
      attemptMs: attemptMs(client.requestTimeoutMs),
    }),
  };
}

const completionPath = '/v2/commands/completion-by-hash';

/** How long to wait for a completion, in milliseconds. It must not delay the next attempt for long. */
const completionTimeoutMs = 5_000;

/**
 * Emits the offset of the completion with a hash. Completes without a value if the participant does not know it, or does not
 * serve the path, as before 3.6. That proves nothing: it may lag, or another participant may have received the submission.
 */
const completedAt = ({ client }: Run, transactionHash: Base64 | undefined): Observable<Offset> =>
  transactionHash === undefined
    ? EMPTY
    : exchange(
        client,
        { method: 'POST', path: completionPath, body: { transactionHash } },
        decodeWith(completionPath, CompletionsByHash),
      ).pipe(
        concatMap(({ acceptedCompletion }) => (acceptedCompletion === undefined ? [] : [acceptedCompletion.offset])),
        catchError(() => EMPTY),
        takeUntil(timer(completionTimeoutMs)),
      );
