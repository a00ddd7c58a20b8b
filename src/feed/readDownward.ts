import { catchError, map, timer, type Observable } from 'rxjs';
import { retryTransient } from '../http/retryTransient.js';
import { isBeyondEnd } from './askPage.js';
import { askPageOnce } from './askPageOnce.js';
import type { Feed } from './Feed.js';
import type { Place, Step } from './Place.js';

/** How often to look whether the ledger has reached the range's end. */
const lookAgainMs = 1_000;

/**
 * One page downward of what lies below the cursor. Asks for two updates at least: of a ledger before 3.5, which does not
 * know the order and answers ascending, a page of one would look right.
 */
export const readDownward = (feed: Feed, place: Place): Observable<Step> => {
  const { floor } = place;
  const range = { beginExclusive: floor, endInclusive: place.cursor - 1, descendingOrder: true };
  return askPageOnce(feed, range, { limit: Math.max(2, feed.maxPageSize) }).pipe(
    map((page): Step => {
      const isOver = page.count === 0 || page.last - 1 <= floor;
      return { page, place: { ...place, cursor: page.last, next: isOver ? 'nothing' : 'pageDown' } };
    }),
    catchError((error: unknown) => {
      if (isBeyondEnd(error)) return timer(lookAgainMs).pipe(map((): Step => ({ place })));
      throw error;
    }),
    retryTransient(feed),
  );
};
