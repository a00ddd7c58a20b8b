import { asyncScheduler, catchError, map, type Observable, type ObservableInput } from 'rxjs';
import { isApiError } from '../errors/ApiError.js';
import { LedgerResetError } from '../errors/LedgerResetError.js';
import { verdict } from '../errors/verdict.js';
import { retryTransient } from '../http/retryTransient.js';
import type { Feed } from './Feed.js';
import { ledgerEnd } from './ledgerEnd.js';
import { catchingUp, waiting } from './nextOf.js';
import type { Place, Step } from './Place.js';

/** Finds out how far there is to catch up. A service that does not tell is asked no more. */
export const readLedgerEnd = (feed: Feed, place: Place): Observable<Step> => {
  const { link, learned } = feed.service;
  return ledgerEnd(link).pipe(
    map((end): Step => {
      if (end < place.cursor) throw new LedgerResetError(place.cursor, end);
      const target = Math.min(end, feed.request.endInclusive ?? end);
      const next = target > place.cursor ? 'page' : waiting(feed, place.cursor);
      return { place: { ...place, target, endReadAt: asyncScheduler.now(), next } };
    }),
    retryTransient(feed.retry),
    catchError((error: unknown): ObservableInput<Step> => {
      if (!isApiError(error) || verdict(error) !== 'switch') throw error;
      learned.hasLedgerEnd = false;
      return [{ place: { ...place, next: catchingUp(feed) } }];
    }),
  );
};
