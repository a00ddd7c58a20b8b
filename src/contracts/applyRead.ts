import { catchError, EMPTY, expand, ignoreElements, type Observable, tap } from 'rxjs';
import type { Update } from '../codecs/Update.js';
import type { AnyFeed } from '../feed/LedgerFeed.js';
import { historyOf } from '../feed/historyOf.js';
import { isEndBeforeCursor, retryRequest } from '../feed/pageRequest.js';
import type { Elsewhere } from '../history/findElsewhere.js';
import { Floors, isMissing } from '../history/Floors.js';
import { lastOffset } from '../history/HistoryReader.js';
import { MovedError } from './withPosition.js';

/**
 * Whether all that was read has come again on the participant that answers: the last update of each synchronizer of which one
 * was read.
 */
export const isAllThere = ({ floors }: Elsewhere): boolean => !floors.some(isMissing);

/**
 * Applies to contracts what was read before and comes after them, where the participant that answers has another order. Then
 * they are those that were had, and what comes after them has the same changes as without a restart.
 */
export const applyRead = (
  feed: AnyFeed,
  { start, floors }: Elsewhere,
  apply: (update: Update) => void,
): Observable<never> => {
  const { read } = historyOf(feed);
  const known = new Floors(floors);
  const endInclusive = Math.max(start, ...floors.map(({ upTo }) => upTo ?? 0));
  // each page is retried alone, because it is applied once
  const pageAfter = (beginExclusive: number) =>
    read({ beginExclusive, endInclusive }, feed.maxPageSize).pipe(retryRequest(feed));
  if (endInclusive === start) return EMPTY;
  return pageAfter(start).pipe(
    expand((page) => (lastOffset(page) >= endInclusive ? EMPTY : pageAfter(lastOffset(page)))),
    tap((page) => {
      for (const update of page) if (known.wasRead(update)) apply(update as Update);
    }),
    catchError((error: unknown) => {
      throw isEndBeforeCursor(error) ? new MovedError() : error;
    }),
    ignoreElements(),
  );
};
