import { catchError, concat, concatMap, EMPTY, type Observable, of, takeUntil, timer } from 'rxjs';
import type { ExecuteRequest } from '../codecs/ExecuteRequest.js';
import { fromBase64, toHex } from '../codecs/internal/field.js';
import type { Base64, Offset } from '../codecs/scalars.js';
import { CompletionsByHash } from '../codecs/Transaction.js';
import { decodeWith, exchange } from '../http/exchange.js';
import { clampTimer } from '../http/retry.js';
import { noContracts } from './usedContracts.js';
import { attemptMs, deduplicationPeriod, isLongest } from './deduplication.js';
import { proveStart } from './LedgerStart.js';
import { type AttemptKey, randomUuid, type Run, type Strategy } from './Run.js';

/** The path that executes signed submissions. */
const path = '/v2/interactive-submission/executeAndWaitForTransaction';

/**
 * Submits bytes that a party has signed. All attempts have the same bytes, which are the change. Their transaction has the hash
 * of the bytes, on all participants of the party.
 */
export const signed = (request: ExecuteRequest, transactionHash: Base64 | undefined): Strategy => ({
  kind: 'signed',
  path,
  format: request.transactionFormat,
  readAs: [],
  held: {},
  hasNames: false,
  isPeriodOpen: isLongest(request.deduplicationPeriod),
  isSinceStart: false,
  canSettle: transactionHash !== undefined,
  body: (run, attempt) => executeBody(request, run, attempt),
  // an offset of another ledger would not cover the attempts that this one has received
  prepareResend: ({ service, start }) =>
    'DeduplicationOffset' in (request.deduplicationPeriod ?? {})
      ? concat(proveStart(service, start), of(noContracts))
      : of(noContracts),
  lookUp: (run, withinMs) => completedAt(run, transactionHash).pipe(takeUntil(timer(clampTimer(withinMs)))),
  finish: (_run, _named, _isResent, transaction) => of(transaction),
  // other refusals name contracts that the transaction creates
  inputs: ({ code = '', contractIds }) => (/INACTIVE_CONTRACTS$|^CONTRACT_NOT_/.test(code) ? contractIds : []),
  isCandidate: (_run, update) =>
    transactionHash !== undefined &&
    update._tag === 'Transaction' &&
    update.externalTransactionHash === toHex(fromBase64(transactionHash)),
  isCertain: true,
});

/**
 * Creates the body of an attempt. Each attempt after the first has its own submission id, and all have a deduplication period
 * that covers the earlier ones. So does a single attempt of a call: another call or process may send the same bytes.
 */
function executeBody(request: ExecuteRequest, run: Run, { number, isResent, earliest }: AttemptKey): ExecuteRequest {
  const { change, start, service } = run;
  const { submissionIds } = change;
  const isLater = number > 1 || isResent || submissionIds.size > 0;
  const submissionId = isLater ? randomUuid() : run.submission.submissionId;
  submissionIds.add(submissionId);
  return {
    ...request,
    submissionId,
    deduplicationPeriod: deduplicationPeriod({
      requested: request.deduplicationPeriod,
      since: start.isUnread === true ? undefined : start.since,
      earliest,
      isLater,
      ageMs: run.ageMs(),
      attemptMs: attemptMs(service.link.requestTimeoutMs),
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
const completedAt = ({ service }: Run, transactionHash: Base64 | undefined): Observable<Offset> =>
  transactionHash === undefined
    ? EMPTY
    : exchange(
        service.link,
        { method: 'POST', path: completionPath, body: { transactionHash } },
        decodeWith(completionPath, CompletionsByHash),
      ).pipe(
        concatMap(({ acceptedCompletion }) => (acceptedCompletion === undefined ? [] : [acceptedCompletion.offset])),
        catchError(() => EMPTY),
        takeUntil(timer(completionTimeoutMs)),
      );
