import { catchError, EMPTY, exhaustMap, map, mergeMap, startWith, switchMap, timer } from 'rxjs';
import type { Observable, OperatorFunction } from 'rxjs';
import { isLedgerError } from '../errors/LedgerError.js';
import { isLedgerResetError } from '../errors/LedgerResetError.js';
import { isTransient } from '../errors/verdict.js';
import { askPageOnce } from './askPageOnce.js';
import type { Feed } from './Feed.js';
import { tellsEnd } from './nextOf.js';
import type { Page } from './Page.js';
import type { Place } from './Place.js';
import { readLedgerEndOnce } from './readLedgerEnd.js';

/** How long a socket that has brought nothing yet is silent before it is looked beside, and how often then, in milliseconds. */
const freshMs = 10_000;

/** The same for one that has brought something. Checkpoints come every 15 000 where the ledger goes on. */
const provenMs = 20_000;

/**
 * Looks by HTTP for what a socket keeps back, while it brings nothing: pages, each with how far it reaches. What fails
 * here and may succeed later is left to the socket, which may well be better off.
 */
export const lookBeside =
  (feed: Feed, here: () => Place): OperatorFunction<unknown, Page> =>
  (brought$) =>
    brought$.pipe(
      startWith(undefined),
      // what comes meanwhile ends the look: it may be what was looked for
      switchMap((_, count) => {
        const everyMs = count === 0 ? freshMs : provenMs;
        return timer(everyMs, everyMs).pipe(exhaustMap(() => (tellsEnd(feed) ? lookOnce(feed, here()) : EMPTY)));
      }),
    );

const lookOnce = (feed: Feed, place: Place): Observable<Page> =>
  readLedgerEndOnce(feed, place).pipe(
    mergeMap(({ place: { next, cursor: beginExclusive, target: endInclusive } }) =>
      next === 'page'
        ? askPageOnce(feed, { beginExclusive, endInclusive }, { limit: feed.maxPageSize }).pipe(
            map((page) => ({ ...page, last: page.count === 0 ? endInclusive : Math.min(page.last, endInclusive) })),
          )
        : EMPTY,
    ),
    catchError((error: unknown) => {
      if (isLedgerError(error) && (isTransient(error) || isLedgerResetError(error))) return EMPTY;
      throw error;
    }),
  );
