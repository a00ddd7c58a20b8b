import { catchError, defer, map, type Observable, type ObservableInput } from 'rxjs';
import { retryTransient } from '../http/retryTransient.js';
import { isBeyondEnd } from './askPage.js';
import { askPageOnce } from './askPageOnce.js';
import type { Feed } from './Feed.js';
import { tellsEnd, waiting } from './nextOf.js';
import type { Place, Step } from './Place.js';
import { readLedgerEndOnce } from './readLedgerEnd.js';

/** Catches up: one page of what lies between the cursor and the target. Never with an idle timeout, which could cut it. */
export const readPage = (feed: Feed, place: Place): Observable<Step> =>
  defer(() => {
    const { cursor, target } = place;
    const { learned } = feed.service;
    const end = Math.min(target, cursor + learned.longestRange);
    return askPageOnce(feed, { beginExclusive: cursor, endInclusive: end }, { limit: feed.maxPageSize }).pipe(
      map((page): Step => {
        learned.longestRange *= 2;
        // only an empty page proves that there is no more: a service may send less than it was asked for
        const reached = page.count === 0 ? end : Math.min(page.last, end);
        return { page, place: { ...place, cursor: reached, next: reached < target ? 'page' : waiting(feed, reached) } };
      }),
    );
  }).pipe(
    catchError((error: unknown): ObservableInput<Step> => {
      if (isBeyondEnd(error)) return aimedAnew(feed, place, error);
      throw error;
    }),
    retryTransient(feed),
  );

/** The ledger ends before the target: it was the caller's, and is not reached yet, or another replica told another end. */
function aimedAnew(feed: Feed, place: Place, error: unknown): ObservableInput<Step> {
  const polling: Step = { place: { ...place, next: 'poll' } };
  if (!tellsEnd(feed)) return [polling];
  // each attempt is one of the page's: patience is not to be had twice
  return readLedgerEndOnce(feed, place).pipe(
    map((step) => {
      if (!tellsEnd(feed)) return polling;
      // the same again: to be waited for
      if (step.place.next === 'page' && step.place.target >= place.target) throw error;
      return step;
    }),
  );
}
