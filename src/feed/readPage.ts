import { catchError, defer, EMPTY, map, merge, Subject, take, takeUntil } from 'rxjs';
import type { Observable, ObservableInput } from 'rxjs';
import { retryTransient } from '../http/retryTransient.js';
import { isBeyondEnd } from './askPage.js';
import type { Feed } from './Feed.js';
import { tellsEnd, waiting } from './nextOf.js';
import type { Place, Step } from './Place.js';
import type { Answered, Reading } from './Reading.js';
import { readingsAt } from './readingsAt.js';
import { readLedgerEndOnce } from './readLedgerEnd.js';

/**
 * Catches up: one page of what lies between the cursor and the target, while the ranges ahead of it are being read
 * already. What fails ahead is asked for again in its turn, and only then: a service in trouble gets one request at a time.
 */
export const readPage = (feed: Feed, place: Place): Observable<Step> =>
  defer(() => {
    const [first, ...ahead] = readingsAt(feed, place);
    const givenUp$ = new Subject<void>();
    return merge(
      first === undefined ? EMPTY : readInTurn(feed, { ...place, ahead }, first, givenUp$),
      ...ahead.map(({ ahead$ }) => ahead$.pipe(takeUntil(givenUp$))),
    ).pipe(
      // the next step has subscribed to what it still wants of them by then; the rest is aborted
      take(1),
    );
  });

/** Reads the page whose turn it is. Once the ledger has turned out to end before it, what is ahead is given up. */
const readInTurn = (feed: Feed, place: Place, { answer$ }: Reading, givenUp$: Subject<void>): Observable<Step> => {
  let { ahead } = place;
  return answer$.pipe(
    map((answered): Step => ({ page: answered.page, place: placeAfter(feed, { ...place, ahead }, answered) })),
    catchError((error: unknown): ObservableInput<Step> => {
      if (!isBeyondEnd(error)) throw error;
      ahead = [];
      givenUp$.next();
      return aimedAnew(feed, { ...place, ahead }, error);
    }),
    retryTransient(feed),
  );
};

/** How much of what has been found out so far still counts after another page. */
const remembered = 0.75;

/** How long a machine is busy with a page of 200 updates, in milliseconds: meanwhile others may be on their way. */
const busyMs = 2.5;

/** How many ranges are read at a time at least, once anything is known: while one is emitted, the next is to come. */
const least = 2;

/** How many ranges are read at a time at most, where the caller does not say. */
const most = 16;

function placeAfter(feed: Feed, place: Place, { page, reached, requests }: Answered): Place {
  // one more with each page: where many are under way, each takes longer, and says little of the way to the service
  const fastestMs = Math.min(page.tookMs, place.fastestMs);
  return {
    ...place,
    cursor: reached,
    next: reached < place.target ? 'page' : waiting(feed, reached),
    found: place.found * remembered + page.count,
    searched: place.searched * remembered + (reached - place.cursor),
    fastestMs,
    atATime: Math.min(most, place.atATime + 1, Math.max(least, Math.ceil((requests * fastestMs) / busyMs))),
  };
}

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
