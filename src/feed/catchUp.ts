import {
  AsyncSubject,
  catchError,
  concatMap,
  defaultIfEmpty,
  defer,
  EMPTY,
  ignoreElements,
  map,
  merge,
  type MonoTypeOperatorFunction,
  type Observable,
  type ObservableInput,
  of,
  share,
  Subject,
  take,
  takeUntil,
  timer,
} from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import { retryTransient } from '../http/retry.js';
import type { Feed } from './Feed.js';
import { readLedgerEndOnce } from './ledgerEnd.js';
import type { Page } from './Page.js';
import { requestPage, isBeyondEnd } from './pageRequest.js';
import { type Answered, type Position, type Reading, type Step, tellsEnd, waitOrEnd } from './Position.js';

/**
 * Catches up: one page of what lies between the cursor and the target, while the ranges ahead of it are being read
 * already. What fails ahead is asked for again in its turn, and only then: a service in trouble gets one request at a time.
 */
export const readPage = (feed: Feed, place: Position): Observable<Step> =>
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

/**
 * The ranges to read from a place on, in order: those that are being read already, and new ones in the gaps between them
 * and behind them, as long as there is room. The first begins at the cursor.
 */
function readingsAt(feed: Feed, place: Position): readonly Reading[] {
  const { cursor, target, ahead } = place;
  const atATime = feed.parallelRanges ?? place.atATime;
  const width = atATime === 1 ? Infinity : widthOf(feed, place);
  const readings: Reading[] = [];
  const isBegun = ahead[0]?.beginExclusive === cursor;
  let room = Math.max(isBegun ? 0 : 1, atATime - ahead.length);
  let begin = cursor;
  const fill = (gapEnd: Offset): void => {
    for (; begin < gapEnd && room > 0; room -= 1) {
      // where no other can be asked for along with it, less than all that is missing would only be slower
      const end = room === 1 && begin === cursor ? gapEnd : Math.min(begin + width, gapEnd);
      readings.push(readRange(feed, begin, end, end === target));
      begin = end;
    }
  };
  for (const reading of ahead) {
    fill(reading.beginExclusive);
    readings.push(reading);
    begin = reading.endInclusive;
  }
  fill(target);
  return readings;
}

/**
 * How many offsets to ask for, so that a page is nearly full and seldom overflows: two standard deviations below its
 * limit, where each offset has the same chance to match.
 */
function widthOf({ maxPageSize, service }: Feed, { found, searched }: Position): number {
  if (searched === 0) return Infinity;
  const limit = Math.min(maxPageSize, service.learned.pageLimit);
  const density = Math.min(1, found / searched);
  if (density === 0) return Math.floor(searched * 4);
  const aim = limit - 2 * Math.sqrt(limit * (1 - density));
  // of pages nearly empty there would be more than time is saved
  return aim < limit / 4 ? Infinity : Math.max(1, Math.floor(aim / density));
}

/** How long a page waits at least for the proof that there is no more in its range, in milliseconds. */
const leastPatienceMs = 500;

/**
 * Reads a page of a range of the ledger, ahead of its turn or in it. Never with an idle timeout, which could cut it.
 *
 * Only an empty answer proves that there is no more in a range: a service may send less than it was asked for. Of a range
 * that has others behind it, that is asked for along with it, so that its turn does not have to wait for it.
 */
function readRange(feed: Feed, beginExclusive: Offset, endInclusive: Offset, isLast: boolean): Reading {
  const answer$ = defer(() => {
    const { learned } = feed.service;
    const end = Math.min(endInclusive, beginExclusive + learned.longestRange);
    return readUpTo(feed, beginExclusive, end, feed.maxPageSize).pipe(
      concatMap((answered) => {
        learned.longestRange *= 2;
        const { page, reached } = answered;
        if (isLast || reached === end || page.isFull || page.failure !== undefined) return of(answered);
        return readUpTo(feed, reached, end, feed.maxPageSize - page.count).pipe(
          map((rest): Answered => ({ page: concatPages(page, rest.page), reached: rest.reached, requests: 2 })),
          catchError(() => {
            // however that went, so far it does reach
            learned.longestRange = Math.max(learned.longestRange, reached - beginExclusive);
            return EMPTY;
          }),
          // what is there is not kept waiting: what is left of the range is asked for again in its turn
          takeUntil(timer(Math.max(leastPatienceMs, 2 * page.tookMs))),
          defaultIfEmpty(answered),
        );
      }),
    );
  }).pipe(shareAnswer());
  const ahead$ = answer$.pipe(
    ignoreElements(),
    catchError(() => EMPTY),
    shareAnswer(),
  );
  return { beginExclusive, endInclusive, answer$, ahead$ };
}

const readUpTo = (feed: Feed, beginExclusive: Offset, endInclusive: Offset, limit: number): Observable<Answered> =>
  requestPage(feed, { beginExclusive, endInclusive }, { limit }).pipe(
    map((page) => ({
      page,
      reached: page.count === 0 ? endInclusive : Math.min(page.last, endInclusive),
      requests: 1,
    })),
  );

const concatPages = (page: Page, rest: Page): Page => ({
  ...rest,
  updates: [...page.updates, ...rest.updates],
  count: page.count + rest.count,
});

/** Whoever comes later has the answer at once; after an error it is asked for anew; when nobody waits any more, aborted. */
const shareAnswer = <A>(): MonoTypeOperatorFunction<A> =>
  share({ connector: () => new AsyncSubject(), resetOnComplete: false });

/** Reads the page whose turn it is. Once the ledger has turned out to end before it, what is ahead is given up. */
const readInTurn = (feed: Feed, place: Position, { answer$ }: Reading, givenUp$: Subject<void>): Observable<Step> => {
  let { ahead } = place;
  return answer$.pipe(
    map((answered): Step => ({ page: answered.page, place: placeAfter(feed, { ...place, ahead }, answered) })),
    catchError((error: unknown): ObservableInput<Step> => {
      if (!isBeyondEnd(error)) throw error;
      ahead = [];
      givenUp$.next();
      return retarget(feed, { ...place, ahead }, error);
    }),
    retryTransient(feed),
  );
};

/** How much of what has been found out so far still counts after another page. */
const remembered = 0.75;

/** How many ranges are read at a time at most, where the caller does not say. */
const most = 16;

/** How many ranges are read at a time at least, once anything is known: while one is emitted, the next is to come. */
const least = 2;

/** How long a machine is busy with a page of 200 updates, in milliseconds: meanwhile others may be on their way. */
const busyMs = 2.5;

function placeAfter(feed: Feed, place: Position, { page, reached, requests }: Answered): Position {
  // one more with each page: where many are under way, each takes longer, and says little of the way to the service
  const fastestMs = Math.min(page.tookMs, place.fastestMs);
  return {
    ...place,
    cursor: reached,
    next: reached < place.target ? 'page' : waitOrEnd(feed, reached),
    found: place.found * remembered + page.count,
    searched: place.searched * remembered + (reached - place.cursor),
    fastestMs,
    atATime: Math.min(most, place.atATime + 1, Math.max(least, Math.ceil((requests * fastestMs) / busyMs))),
  };
}

/** The ledger ends before the target: it was the caller's, and is not reached yet, or another replica told another end. */
function retarget(feed: Feed, place: Position, error: unknown): ObservableInput<Step> {
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

/** How often to look whether the ledger has reached the range's end. */
const lookAgainMs = 1_000;

/**
 * One page downward of what lies below the cursor. Asks for two updates at least: of a ledger before 3.5, which does not
 * know the order and answers ascending, a page of one would look right.
 */
export const readDownward = (feed: Feed, place: Position): Observable<Step> => {
  const { floor } = place;
  const range = { beginExclusive: floor, endInclusive: place.cursor - 1, descendingOrder: true };
  return requestPage(feed, range, { limit: Math.max(2, feed.maxPageSize) }).pipe(
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
