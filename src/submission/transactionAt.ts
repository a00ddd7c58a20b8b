import { catchError, defer, filter, map, type Observable } from 'rxjs';
import type { Offset } from '../codecs/Offset.js';
import type { Transaction } from '../codecs/Transaction.js';
import { UpdateElement } from '../codecs/UpdateElement.js';
import type { UpdateFormat } from '../codecs/UpdateFormat.js';
import { isApiError } from '../errors/ApiError.js';
import { verdict } from '../errors/verdict.js';
import { feedOf } from '../feed/feedOf.js';
import { updates } from '../feed/updates.js';
import { decoded } from '../http/decoded.js';
import { exchange } from '../http/exchange.js';
import type { Sending } from './Sending.js';

const path = '/v2/updates/update-by-offset';

/**
 * The transaction at an offset; completes without one where the format shows nothing of it. A service that does not serve
 * single updates is read as a feed.
 */
export const transactionAt = (
  { service, retry }: Sending,
  offset: Offset,
  updateFormat: UpdateFormat,
): Observable<Transaction> =>
  exchange(service.link, { method: 'POST', path, body: { offset, updateFormat } }).pipe(
    map(decoded(path, UpdateElement)),
    catchError((error: unknown) => {
      if (isApiError(error) && error.code === 'UPDATE_NOT_FOUND') return [];
      if (!isApiError(error) || verdict(error) !== 'switch') throw error;
      const range = { beginExclusive: offset - 1, endInclusive: offset, updateFormat };
      return defer(() => updates(feedOf(service, range, { retry }, undefined)));
    }),
    filter((update): update is Transaction => update._tag === 'Transaction'),
  );
