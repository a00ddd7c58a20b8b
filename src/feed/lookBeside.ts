import { catchError, EMPTY, exhaustMap, filter, map, mergeMap, takeWhile, timer, type Observable } from 'rxjs';
import { isLedgerError } from '../errors/LedgerError.js';
import { isLedgerResetError } from '../errors/LedgerResetError.js';
import { isTransient } from '../errors/verdict.js';
import { askPageOnce } from './askPageOnce.js';
import type { Feed } from './Feed.js';
import { tellsEnd } from './nextOf.js';
import type { Page } from './Page.js';
import type { Place } from './Place.js';
import { readLedgerEndOnce } from './readLedgerEnd.js';

/** How often, in milliseconds. */
const everyMs = 10_000;

/**
 * Looks by HTTP for updates that a socket keeps back, as long as it has brought nothing: pages, each with how far it
 * reaches. What fails here and may succeed later is left to the socket, which may well be better off.
 */
export const lookBeside = (feed: Feed, here: () => Place, hasBrought: () => boolean): Observable<Page> =>
  timer(everyMs, everyMs).pipe(
    map(hasBrought),
    takeWhile((has) => !has),
    exhaustMap(() => (tellsEnd(feed) ? lookOnce(feed, here()) : EMPTY)),
    filter(() => !hasBrought()),
  );

const lookOnce = (feed: Feed, place: Place): Observable<Page> =>
  readLedgerEndOnce(feed, place).pipe(
    mergeMap(({ place: { next, cursor: beginExclusive, target: endInclusive } }) =>
      next === 'page'
        ? askPageOnce(feed, { beginExclusive, endInclusive }, { limit: feed.maxPageSize }).pipe(
            map((page) => (page.count === 0 ? { ...page, last: endInclusive } : page)),
          )
        : EMPTY,
    ),
    catchError((error: unknown) => {
      if (isLedgerError(error) && (isTransient(error) || isLedgerResetError(error))) return EMPTY;
      throw error;
    }),
  );
