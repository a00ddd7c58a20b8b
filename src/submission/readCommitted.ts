import { catchError, concat, defer, filter, map, mergeMap, type Observable, take, throwIfEmpty } from 'rxjs';
import { acsDelta, ledgerEffects } from '../codecs/formats.js';
import { Offset } from '../codecs/scalars.js';
import type { Transaction } from '../codecs/Transaction.js';
import { UpdateElement } from '../codecs/Update.js';
import type { UpdateFormat } from '../codecs/UpdateFormat.js';
import { type ApiError, isApiError } from '../errors/ApiError.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { isOutcomeUnknownError, OutcomeUnknownError, type Submission } from '../errors/submission.js';
import { verdict } from '../errors/verdict.js';
import { createFeed } from '../feed/Feed.js';
import { requestPageWithRetry } from '../feed/pageRequest.js';
import { decodeWith, exchange } from '../http/exchange.js';
import { retryTransient, timeoutWith } from '../http/retry.js';
import type { Sending } from './Sending.js';

/** The transaction of a change that the ledger refuses to commit once more, since it has; read within a time. */
export function readCommitted(
  sending: Sending,
  submission: Submission,
  duplicate: ApiError,
  withinMs: number,
): Observable<Transaction> {
  const { request, retry, service } = sending;
  const { parties } = submission;
  const offset = completionOffset(duplicate);
  if (offset === undefined) throw new OutcomeUnknownError(submission, duplicate);
  const shown = request.transactionFormat
    ? { includeTransactions: request.transactionFormat }
    : acsDelta({ parties, topology: false });
  return concat(
    transactionAt(sending, offset, shown),
    // where the format shows nothing, the service itself answers a transaction without events
    defer(() => transactionAt(sending, offset, ledgerEffects({ parties, topology: false }))).pipe(
      map((transaction) => ({ ...transaction, events: [] })),
    ),
  ).pipe(
    filter((transaction) => isOurs(transaction, sending)),
    take(1),
    throwIfEmpty(() => duplicate),
    retryTransient({ retry, report: service.link.report }),
    timeoutWith(withinMs, () => new OutcomeUnknownError(submission, duplicate, offset)),
    catchError((error: unknown) => {
      throw isLedgerError(error) && !isOutcomeUnknownError(error)
        ? new OutcomeUnknownError(submission, error, offset)
        : error;
    }),
  );
}

/** Where the ledger says that it was committed; some versions wrap the number. */
function completionOffset({ context }: ApiError): Offset | undefined {
  const digits = /^(?:Some\()?(\d+)\)?$/.exec(context['completion_offset'] ?? '')?.[1];
  const offset = digits === undefined ? undefined : Number(digits);
  return Offset.is(offset) ? offset : undefined;
}

const path = '/v2/updates/update-by-offset';

/**
 * The transaction at an offset; completes without one where the format shows nothing of it. A service that does not serve
 * single updates is asked for a page.
 */
const transactionAt = (
  { service, retry }: Sending,
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
      // the ledger has come that far: there is no need to ask for its end, as a feed does
      const range = { beginExclusive: offset - 1, endInclusive: offset };
      const feed = createFeed(
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

/** Behind a balancer another participant may be asked, where the offset is that of something else. */
const isOurs = (transaction: Transaction, { commandId = '' }: Sending): boolean =>
  commandId === '' || (transaction.commandId ?? '') === '' || transaction.commandId === commandId;
