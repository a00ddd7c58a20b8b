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
  of,
  pipe,
  take,
  throwIfEmpty,
} from 'rxjs';
import { acsDelta, ledgerEffects, type UpdateFormat } from '../codecs/UpdateFormat.js';
import { Offset } from '../codecs/scalars.js';
import type { SubmittedTransaction, Transaction } from '../codecs/Transaction.js';
import { type Update, UpdateElement } from '../codecs/Update.js';
import type { UpdatesRange } from '../codecs/UpdatesRequest.js';
import type { ApiError } from '../errors/ApiError.js';
import { isLedgerError, type LedgerError, OutcomeUnknownError } from '../errors/LedgerError.js';
import { RequestTimeoutError } from '../errors/request.js';
import type { Submission } from '../errors/submission.js';
import { isUnavailable } from '../history/participant.js';
import type { UndecodedUpdate } from '../feed/Page.js';
import { requestPageWithRetry } from '../feed/pageRequest.js';
import { updates } from '../feed/updates.js';
import { createLedgerFeed } from '../feed/UpdatesOptions.js';
import { decodeWith, exchange } from '../client/exchange.js';
import { mapError, retryTransient, timeoutWith } from '../http/retry.js';
import { isAboutNames } from './codes.js';
import { proveStart } from './LedgerStart.js';
import { isAwaited } from './outcome.js';
import type { Run } from './Run.js';
import { hasHash } from './send.js';

/** The minimum time for reading a transaction, in milliseconds, even if that for the attempts is used up. */
const minReadMs = 5_000;

/** Reads the transaction of a change that an earlier attempt, or an earlier process, has committed at an offset. */
export const readCommitted = (
  ...[run, submission, offset, leftMs, cause]: Parameters<typeof readTransaction>
): Observable<SubmittedTransaction> =>
  readTransaction(run, submission, offset, Math.max(minReadMs, leftMs), cause).pipe(
    map((transaction) => ({ ...transaction, isRepeated: true })),
  );

/** Reads the transaction of a change at an offset. */
export function readTransaction(
  run: Run,
  submission: Submission,
  offset: Offset,
  withinMs: number,
  cause: LedgerError = new RequestTimeoutError(path, withinMs, run.client.host),
): Observable<Transaction> {
  const { strategy, retry, report } = run;
  // the participant shows the submitter what all of them see
  const parties = [...new Set([...submission.actAs, ...strategy.readAs])];
  const format = strategy.format ? { includeTransactions: strategy.format } : acsDelta({ parties, topology: false });
  return defer(() => [
    transactionAt(run, offset, format),
    // like the participant: a transaction without events if the format selects none of them
    transactionAt(run, offset, ledgerEffects({ parties, topology: false })).pipe(
      map((transaction) => ({ ...transaction, events: [] })),
    ),
  ]).pipe(
    concatAll(),
    concatMap((transaction) => ifOurs(transaction, run, mayBeOther(run, cause))),
    take(1),
    throwIfEmpty(() => cause),
    retryTransient({ retry, report }, isAwaited),
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

/** Returns the offset at which a change was committed that is refused as a duplicate. Some versions wrap the number. */
export function completionOffset({ context }: ApiError): Offset | undefined {
  const digits = /^(?:Some\()?(\d+)\)?$/.exec(context['completion_offset'] ?? '')?.[1];
  const offset = digits === undefined ? undefined : Number(digits);
  return Offset.is(offset) ? offset : undefined;
}

const path = '/v2/updates/update-by-offset';

/**
 * Reads the transaction at an offset. Completes without a value if the format selects nothing of it. If the participant
 * does not serve single updates, it reads a page.
 */
const transactionAt = ({ client, retry }: Run, offset: Offset, updateFormat: UpdateFormat): Observable<Transaction> =>
  exchange(client, { method: 'POST', path, body: { offset, updateFormat } }, decodeWith(path, UpdateElement)).pipe(
    catchError((error: unknown) => {
      // names that the participant does not know select nothing
      if (isLedgerError(error, 'ApiError') && (error.code === 'UPDATE_NOT_FOUND' || isAboutNames(error.code)))
        return [];
      if (!isUnavailable(error)) throw error;
      // the ledger has reached the offset, so there is no need to read its end, as a feed does
      const range = { beginExclusive: offset - 1, endInclusive: offset };
      const feed = createLedgerFeed(
        client,
        { ...range, updateFormat },
        { retry: { ...retry, giveUpAfterMs: 0 } },
        undefined,
        client.report,
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
 * Emits a transaction if it is that of the change. A load balancer may route to another participant, or another ledger may have
 * taken the place of the first, with another update at the offset. If the transaction does not show whose it is, the participant must be
 * the one of the change.
 *
 * @param isOther - whether it may be that of other bytes with the same command id
 */
function ifOurs(transaction: Transaction, run: Run, isOther: boolean): Observable<Transaction> {
  const { change, submission } = run;
  const { commandId = '' } = transaction;
  // it is the same on all participants
  if (run.updateId !== undefined && transaction.updateId !== run.updateId) return EMPTY;
  if (commandId !== '' && (change.commandId ?? '') !== '')
    return commandId === change.commandId ? of(transaction) : EMPTY;
  const isSigned = hasHash(transaction, submission.transactionHash);
  if (isSigned === true) return of(transaction);
  return isSigned === false && !isOther ? EMPTY : concat(proveStart(run), of(transaction));
}

/**
 * Whether what was committed may be other bytes with the same command id, which the ledger refuses as a duplicate, too. It then
 * names the attempt that it has committed.
 */
function mayBeOther({ change: { submissionIds } }: Run, cause: LedgerError): boolean {
  if (!isLedgerError(cause, 'ApiError') || cause.code !== 'DUPLICATE_COMMAND') return false;
  const committed = /^(?:Some\()?(.*?)\)?$/.exec(cause.context['existingSubmissionId'] ?? '')?.[1] ?? '';
  return !submissionIds.has(committed);
}

/** The report function of a feed that is not the user's. */
export const silent = (): void => undefined;

/** Reads the updates of the parties of a submission, to search them for its transaction. */
export const readUpdates = (
  { client, retry, submission }: Run,
  range: UpdatesRange,
  giveUpAfterMs = 0,
): Observable<Update | UndecodedUpdate> =>
  defer(() =>
    updates(
      createLedgerFeed(
        client,
        { ...range, updateFormat: ledgerEffects({ parties: submission.actAs, topology: false }) },
        { onUndecodable: 'emit', retry: { ...retry, giveUpAfterMs } },
        undefined,
        silent,
      ),
    ),
  );
