import { catchError, filter, mergeMap, type Observable } from 'rxjs';
import type { Offset } from '../codecs/Offset.js';
import type { Transaction } from '../codecs/Transaction.js';
import { UpdateElement } from '../codecs/UpdateElement.js';
import type { UpdateFormat } from '../codecs/UpdateFormat.js';
import { isApiError } from '../errors/ApiError.js';
import { verdict } from '../errors/verdict.js';
import { askPage } from '../feed/askPage.js';
import { feedOf } from '../feed/feedOf.js';
import { decoded } from '../http/decoded.js';
import { exchange } from '../http/exchange.js';
import type { Sending } from './Sending.js';

const path = '/v2/updates/update-by-offset';

/**
 * The transaction at an offset; completes without one where the format shows nothing of it. A service that does not serve
 * single updates is asked for a page.
 */
export const transactionAt = (
  { service, retry }: Sending,
  offset: Offset,
  updateFormat: UpdateFormat,
): Observable<Transaction> =>
  exchange(service.link, { method: 'POST', path, body: { offset, updateFormat } }, decoded(path, UpdateElement)).pipe(
    catchError((error: unknown) => {
      if (isApiError(error) && error.code === 'UPDATE_NOT_FOUND') return [];
      if (!isApiError(error) || verdict(error) !== 'switch') throw error;
      // the ledger has come that far: there is no need to ask for its end, as a feed does
      const range = { beginExclusive: offset - 1, endInclusive: offset };
      const feed = feedOf(
        service,
        { ...range, updateFormat },
        { retry: { ...retry, giveUpAfterMs: 0 } },
        undefined,
        service.link.report,
      );
      return askPage(feed, range, { limit: 2 }).pipe(
        mergeMap(({ updates, failure }) => {
          if (failure !== undefined) throw failure;
          return updates;
        }),
      );
    }),
    filter((update): update is Transaction => update._tag === 'Transaction'),
  );
