import { catchError, map, type Observable, type ObservableInput } from 'rxjs';
import { retryTransient } from '../http/retryTransient.js';
import { askPage, isBeyondEnd } from './askPage.js';
import { askPageOnce } from './askPageOnce.js';
import type { Feed } from './Feed.js';
import { waiting } from './nextOf.js';
import type { Page } from './Page.js';
import type { Place, Step } from './Place.js';

/** Catches up: one page of what lies between the cursor and the target. Never with an idle timeout, which could cut it. */
export const readPage = (feed: Feed, place: Place): Observable<Step> => {
  const { cursor, target } = place;
  const range = { beginExclusive: cursor, endInclusive: target };
  const ask = { limit: feed.maxPageSize };
  const after = (page: Page): Step => {
    // only an empty page proves that there is no more: a service may send less than it was asked for
    const reached = page.count === 0 ? target : Math.min(page.last, target);
    return { page, place: { ...place, cursor: reached, next: reached < target ? 'page' : waiting(feed, reached) } };
  };
  if (feed.service.learned.hasLedgerEnd) return askPage(feed, range, ask).pipe(map(after));
  // the ledger may not have come as far as the caller's bound
  return askPageOnce(feed, range, ask).pipe(
    map(after),
    catchError((error: unknown): ObservableInput<Step> => {
      if (isBeyondEnd(error)) return [{ place: { ...place, next: 'poll' } }];
      throw error;
    }),
    retryTransient(feed.retry),
  );
};
