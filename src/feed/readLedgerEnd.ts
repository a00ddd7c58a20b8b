import { asyncScheduler, catchError, map, type Observable, type ObservableInput } from 'rxjs';
import { isApiError, type ApiError } from '../errors/ApiError.js';
import { LedgerResetError } from '../errors/LedgerResetError.js';
import { verdict } from '../errors/verdict.js';
import { retryTransient } from '../http/retryTransient.js';
import type { Feed } from './Feed.js';
import { ledgerEnd } from './ledgerEnd.js';
import { catchingUp, nothingKnown, waiting } from './nextOf.js';
import type { Place, Step } from './Place.js';

/** The path is not served, or a gateway does not let it through. */
const isUntold = (error: ApiError): boolean =>
  verdict(error) === 'switch' || (error.status === 403 && error.code === undefined);

/** Finds out how far there is to catch up. A service that does not tell is left alone for a while. */
export const readLedgerEnd = (feed: Feed, place: Place): Observable<Step> =>
  readLedgerEndOnce(feed, place).pipe(retryTransient(feed));

/** The same, without asking again after a transient failure. */
export const readLedgerEndOnce = (feed: Feed, place: Place): Observable<Step> => {
  const { link, learned } = feed.service;
  return ledgerEnd(link).pipe(
    map((end): Step => {
      if (end < place.cursor) throw new LedgerResetError(place.cursor, end);
      const target = Math.min(end, feed.request.endInclusive ?? end);
      const next = target > place.cursor ? 'page' : waiting(feed, place.cursor);
      learned.endUntoldAt = -Infinity;
      const now = asyncScheduler.now();
      return { place: { ...place, target, endReadAt: now, next, atATime: 1, fastestMs: Infinity } };
    }),
    catchError((error: unknown): ObservableInput<Step> => {
      if (!isApiError(error) || !isUntold(error)) throw error;
      learned.endUntoldAt = asyncScheduler.now();
      const untold = { ...place, ...nothingKnown, next: catchingUp(feed) };
      return [{ place: { ...untold, target: feed.request.endInclusive ?? place.target } }];
    }),
  );
};
