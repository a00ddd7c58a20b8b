import { asyncScheduler, catchError, map, type Observable, type ObservableInput } from 'rxjs';
import { LedgerEnd } from '../codecs/OffsetCheckpoint.js';
import type { Offset } from '../codecs/scalars.js';
import { type ApiError, isApiError } from '../errors/ApiError.js';
import { LedgerResetError } from '../errors/feed.js';
import { verdict } from '../errors/verdict.js';
import { decodeWith, exchange } from '../http/exchange.js';
import type { Link } from '../http/Link.js';
import { retryTransient } from '../http/retry.js';
import type { Feed } from './Feed.js';
import { catchUpOrPoll, nothingKnown, type Position, type Step, waitOrEnd } from './Position.js';

const path = '/v2/state/ledger-end';

/** The ledger's end, asked for once. */
export const ledgerEnd = (link: Link): Observable<Offset> =>
  exchange(link, { method: 'GET', path }, decodeWith(path, LedgerEnd)).pipe(map(({ offset }) => offset));

/** Finds out how far there is to catch up. A service that does not tell is left alone for a while. */
export const readLedgerEnd = (feed: Feed, place: Position): Observable<Step> =>
  readLedgerEndOnce(feed, place).pipe(retryTransient(feed));

/** The same, without asking again after a transient failure. */
export const readLedgerEndOnce = (feed: Feed, place: Position): Observable<Step> => {
  const { link, learned } = feed.service;
  return ledgerEnd(link).pipe(
    map((end): Step => {
      if (end < place.cursor) throw new LedgerResetError(place.cursor, end);
      const target = Math.min(end, feed.request.endInclusive ?? end);
      const next = target > place.cursor ? 'page' : waitOrEnd(feed, place.cursor);
      learned.endUntoldAt = -Infinity;
      const now = asyncScheduler.now();
      return { place: { ...place, target, endReadAt: now, next, atATime: 1, fastestMs: Infinity } };
    }),
    catchError((error: unknown): ObservableInput<Step> => {
      if (!isApiError(error) || !isUntold(error)) throw error;
      learned.endUntoldAt = asyncScheduler.now();
      const untold = { ...place, ...nothingKnown, next: catchUpOrPoll(feed) };
      return [{ place: { ...untold, target: feed.request.endInclusive ?? place.target } }];
    }),
  );
};

/** The path is not served, or a gateway does not let it through. */
const isUntold = (error: ApiError): boolean =>
  verdict(error) === 'switch' || (error.status === 403 && error.code === undefined);
