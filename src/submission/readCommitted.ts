import {
  catchError,
  concat,
  concatAll,
  concatMap,
  defer,
  EMPTY,
  filter,
  map,
  mergeMap,
  type MonoTypeOperatorFunction,
  type Observable,
  pipe,
  take,
  takeUntil,
  throwIfEmpty,
  timer,
} from 'rxjs';
import type { ExecuteRequest } from '../codecs/ExecuteRequest.js';
import type { CommandsRequest } from '../codecs/SubmissionRequest.js';
import { acsDelta, ledgerEffects, type UpdateFormat } from '../codecs/UpdateFormat.js';
import { fromBase64, toHex } from '../codecs/internal/field.js';
import { type Base64, Offset } from '../codecs/scalars.js';
import { CompletionsByHash, type SubmittedTransaction, type Transaction } from '../codecs/Transaction.js';
import { type Update, UpdateElement } from '../codecs/Update.js';
import type { UpdatesRange } from '../codecs/UpdatesRequest.js';
import type { ApiError } from '../errors/ApiError.js';
import { isLedgerError, type LedgerError, OutcomeUnknownError } from '../errors/LedgerError.js';
import { RequestTimeoutError } from '../errors/request.js';
import type { Submission } from '../errors/submission.js';
import { ledgerEnd } from '../feed/ledgerEnd.js';
import { isUnavailable } from '../history/participant.js';
import type { UndecodedUpdate } from '../feed/Page.js';
import { requestPageWithRetry } from '../feed/pageRequest.js';
import { updates } from '../feed/updates.js';
import { createLedgerFeed } from '../feed/UpdatesOptions.js';
import { decodeWith, exchange } from '../http/exchange.js';
import { hostOf } from '../http/Link.js';
import { clampTimer, mapError, retryTransient, timeoutWith } from '../http/retry.js';
import type { Execution } from './Execution.js';
import { isAboutNames, isAwaited } from './outcome.js';

/** What reading a transaction back needs to know of its submission. */
export interface Committed extends Pick<Execution, 'service' | 'retry' | 'commandId'> {
  readonly request: Pick<ExecuteRequest, 'transactionFormat'> & Partial<Pick<CommandsRequest, 'readAs'>>;
}

/** Reads the transaction of a change that the ledger has already committed, according to its refusal of a duplicate. */
export function readDuplicate(
  execution: Committed,
  submission: Submission,
  duplicate: ApiError,
  withinMs: number,
): Observable<SubmittedTransaction> {
  const offset = completionOffset(duplicate);
  if (offset === undefined) throw new OutcomeUnknownError(submission, duplicate);
  return readCommitted(execution, submission, offset, withinMs, duplicate);
}

/** Reads the transaction of a change that an earlier attempt, or an earlier process, has committed at an offset. */
export const readCommitted = (
  ...[execution, submission, offset, withinMs, cause]: Parameters<typeof readTransaction>
): Observable<SubmittedTransaction> =>
  readTransaction(execution, submission, offset, withinMs, cause).pipe(
    map((transaction) => ({ ...transaction, isRepeated: true })),
  );

/** Reads the transaction of a change at an offset. */
export function readTransaction(
  execution: Committed,
  submission: Submission,
  offset: Offset,
  withinMs: number,
  cause: LedgerError = new RequestTimeoutError(path, withinMs, hostOf(execution.service.link)),
): Observable<Transaction> {
  const { request, retry, service } = execution;
  // the participant shows the submitter what all of them see
  const parties = [...new Set([...submission.actAs, ...(request.readAs ?? [])])];
  const format = request.transactionFormat
    ? { includeTransactions: request.transactionFormat }
    : acsDelta({ parties, topology: false });
  return defer(() => [
    transactionAt(execution, offset, format),
    // like the participant: a transaction without events if the format selects none of them
    transactionAt(execution, offset, ledgerEffects({ parties, topology: false })).pipe(
      map((transaction) => ({ ...transaction, events: [] })),
    ),
  ]).pipe(
    concatAll(),
    filter((transaction) => isOurs(transaction, execution)),
    take(1),
    throwIfEmpty(() => cause),
    retryTransient({ retry, report: service.link.report }, isAwaited),
    unknownAfter(withinMs, submission, cause, offset),
  );
}

/** Limits the time. The outcome of the submission is unknown if it ends, or if the source fails. */
export const unknownAfter = <A>(
  withinMs: number,
  submission: Submission,
  cause: LedgerError,
  completionOffset?: Offset,
): MonoTypeOperatorFunction<A> =>
  pipe(
    timeoutWith(withinMs, () => cause),
    mapError((error) => (isLedgerError(error) ? new OutcomeUnknownError(submission, error, completionOffset) : error)),
  );

/** Returns the offset at which the change was committed. Some versions wrap the number. */
function completionOffset({ context }: ApiError): Offset | undefined {
  const digits = /^(?:Some\()?(\d+)\)?$/.exec(context['completion_offset'] ?? '')?.[1];
  const offset = digits === undefined ? undefined : Number(digits);
  return Offset.is(offset) ? offset : undefined;
}

const path = '/v2/updates/update-by-offset';

/**
 * Reads the transaction at an offset. Completes without a value if the format selects nothing of it. If the participant
 * does not serve single updates, it reads a page.
 */
const transactionAt = (
  { service, retry }: Committed,
  offset: Offset,
  updateFormat: UpdateFormat,
): Observable<Transaction> =>
  exchange(
    service.link,
    { method: 'POST', path, body: { offset, updateFormat } },
    decodeWith(path, UpdateElement),
  ).pipe(
    catchError((error: unknown) => {
      // names that the participant does not know select nothing
      if (isLedgerError(error, 'ApiError') && (error.code === 'UPDATE_NOT_FOUND' || isAboutNames(error.code)))
        return [];
      if (!isUnavailable(error)) throw error;
      // the ledger has reached the offset, so there is no need to read its end, as a feed does
      const range = { beginExclusive: offset - 1, endInclusive: offset };
      const feed = createLedgerFeed(
        service,
        { ...range, updateFormat },
        { retry: { ...retry, giveUpAfterMs: 0 } },
        undefined,
        service.link.report,
      );
      return requestPageWithRetry(feed, range, { limit: 2 }).pipe(
        mergeMap(({ updates, failure }) => {
          if (failure !== undefined) throw failure;
          return updates;
        }),
      );
    }),
    filter((update): update is Transaction => update._tag === 'Transaction'),
  );

/**
 * Whether a transaction belongs to the change. A load balancer may route to another participant, with another update at
 * the offset.
 */
const isOurs = (transaction: Transaction, { commandId = '' }: Committed): boolean =>
  commandId === '' || (transaction.commandId ?? '') === '' || transaction.commandId === commandId;

/** How and for how long to look for a transaction. */
interface LookUp {
  /** Whether a participant has refused the submission for good, so that it is not sent again. */
  readonly isRefused: boolean;
  readonly withinMs: number;
}

/**
 * Looks for the transaction of a submission by its hash, and emits the offset. Completes without a value if the hash is
 * unknown, if a request fails, or if the participant does not know the transaction. That proves nothing: the participant
 * may lag, or another one at the same address may have received the submission.
 */
export function findCommitted(execution: Execution, { isRefused, withinMs }: LookUp): Observable<Offset> {
  const { transactionHash } = execution.submission;
  if (transactionHash === undefined) return EMPTY;
  const byCompletion$ = completedAt(execution, transactionHash);
  // the feed takes more requests than sending the submission again, which therefore comes first
  const found$ = isRefused ? concat(byCompletion$, ingestedAt(execution, transactionHash)) : byCompletion$;
  return found$.pipe(take(1), takeUntil(timer(clampTimer(withinMs))));
}

const completionPath = '/v2/commands/completion-by-hash';

/** How long to wait for a completion, in milliseconds. It must not delay the next attempt for long. */
const completionTimeoutMs = 5_000;

/** Requests the completion. Participants before 3.6 do not serve the path. */
const completedAt = ({ service }: Execution, transactionHash: Base64): Observable<Offset> =>
  exchange(
    service.link,
    { method: 'POST', path: completionPath, body: { transactionHash } },
    decodeWith(completionPath, CompletionsByHash),
  ).pipe(
    concatMap(({ acceptedCompletion }) => (acceptedCompletion === undefined ? [] : [acceptedCompletion.offset])),
    catchError(() => EMPTY),
    takeUntil(timer(completionTimeoutMs)),
  );

/** Searches the updates since the first attempt. */
const ingestedAt = (execution: Execution, transactionHash: Base64): Observable<Offset> =>
  defer(() => {
    const { since: beginExclusive } = execution.submission;
    if (beginExclusive === undefined) return EMPTY;
    const externalTransactionHash = toHex(fromBase64(transactionHash));
    return ledgerEnd(execution.service.link).pipe(
      filter((endInclusive) => endInclusive > beginExclusive),
      concatMap((endInclusive) => readUpdates(execution, { beginExclusive, endInclusive })),
      filter((update) => update._tag === 'Transaction' && update.externalTransactionHash === externalTransactionHash),
      map(({ offset }) => offset),
    );
  }).pipe(catchError(() => EMPTY));

/** The report function of a feed that is not the user's. */
export const silent = (): void => undefined;

/** Reads the updates of the parties of a submission, to search them for its transaction. */
export const readUpdates = (
  { service, retry, submission }: Committed & Pick<Execution, 'submission'>,
  range: UpdatesRange,
  giveUpAfterMs = 0,
): Observable<Update | UndecodedUpdate> =>
  defer(() =>
    updates(
      createLedgerFeed(
        service,
        { ...range, updateFormat: ledgerEffects({ parties: submission.actAs, topology: false }) },
        { onUndecodable: 'emit', retry: { ...retry, giveUpAfterMs } },
        undefined,
        silent,
      ),
    ),
  );
