import type { Observable } from 'rxjs';
import { isApiError } from '../errors/ApiError.js';
import { LedgerResetError } from '../errors/LedgerResetError.js';
import { mapError } from '../http/mapError.js';
import { retryTransient } from '../http/retryTransient.js';
import { askPageOnce, type Ask } from './askPageOnce.js';
import type { Feed } from './Feed.js';
import type { Page } from './Page.js';
import type { Range } from './Range.js';

/** One page of a range that the ledger has reached; asks again after a transient failure. */
export const askPage = (feed: Feed, range: Range, ask: Ask): Observable<Page> =>
  askPageOnce(feed, range, ask).pipe(
    mapError((error) => (isBeyondEnd(error) ? new LedgerResetError(range.beginExclusive) : error)),
    retryTransient(feed),
  );

/** Whether the ledger has not come as far as the range that was asked for. */
export const isBeyondEnd = (error: unknown): boolean => isApiError(error) && error.code === 'OFFSET_AFTER_LEDGER_END';
