import { catchError, concatAll, defer, filter, map, mergeMap, type Observable, take, throwIfEmpty } from 'rxjs';
import { acsDelta, ledgerEffects } from '../codecs/formats.js';
import { Offset } from '../codecs/scalars.js';
import type { Transaction } from '../codecs/Transaction.js';
import { UpdateElement } from '../codecs/Update.js';
import type { UpdateFormat } from '../codecs/UpdateFormat.js';
import { type ApiError, isApiError } from '../errors/ApiError.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { isUnauthorizedError } from '../errors/request.js';
import { isOutcomeUnknownError, OutcomeUnknownError, type Submission } from '../errors/submission.js';
import { verdict } from '../errors/verdict.js';
import { createLedgerFeed } from '../feed/LedgerFeed.js';
import { requestPageWithRetry } from '../feed/pageRequest.js';
import { decodeWith, exchange } from '../http/exchange.js';
import { retryTransient, timeoutWith } from '../http/retry.js';
import type { Execution } from './Execution.js';

/** Reads the transaction of a change that the ledger has already committed, according to its refusal of a duplicate. */
export function readCommitted(
  execution: Execution,
  submission: Submission,
  duplicate: ApiError,
  withinMs: number,
): Observable<Transaction> {
  const { request, retry, service } = execution;
  const { parties } = submission;
  const offset = completionOffset(duplicate);
  if (offset === undefined) throw new OutcomeUnknownError(submission, duplicate);
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
    throwIfEmpty(() => duplicate),
    retryTransient({ retry, report: service.link.report }, (error) => !isUnauthorizedError(error)),
    timeoutWith(withinMs, () => new OutcomeUnknownError(submission, duplicate, offset)),
    catchError((error: unknown) => {
      throw isLedgerError(error) && !isOutcomeUnknownError(error)
        ? new OutcomeUnknownError(submission, error, offset)
        : error;
    }),
  );
}

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
  { service, retry }: Execution,
  offset: Offset,
  updateFormat: UpdateFormat,
): Observable<Transaction> =>
  exchange(
    service.link,
    { method: 'POST', path, body: { offset, updateFormat } },
    decodeWith(path, UpdateElement),
  ).pipe(
    catchError((error: unknown) => {
      if (isApiError(error) && error.code === 'UPDATE_NOT_FOUND') return [];
      if (!isApiError(error) || verdict(error) !== 'switch') throw error;
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
const isOurs = (transaction: Transaction, { commandId = '' }: Execution): boolean =>
  commandId === '' || (transaction.commandId ?? '') === '' || transaction.commandId === commandId;
