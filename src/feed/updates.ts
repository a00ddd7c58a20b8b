import {
  catchError,
  concatMap,
  defer,
  EMPTY,
  expand,
  from,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  queueScheduler,
  subscribeOn,
  take,
  tap,
  throwIfEmpty,
} from 'rxjs';
import { Offset } from '../codecs/scalars.js';
import type { Update } from '../codecs/Update.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { readDownward, readPage } from './catchUp.js';
import type { Feed } from './Feed.js';
import { readLedgerEnd } from './ledgerEnd.js';
import { mayOpenSocket, followBySocket } from './listen.js';
import { poll } from './poll.js';
import { type Position, startPosition, type Step, reportCaughtUp, withCaughtUp } from './Position.js';
import { type InvalidUpdate, isGapError } from './UpdatesOptions.js';

/** The updates of a feed: a page is emitted before the next step begins, so that none pile up. */
export const updates = (feed: Feed): Observable<Update | InvalidUpdate> =>
  steps(feed).pipe(concatMap(({ page }) => page?.updates ?? []));

/** Tells that a feed has ended before its end: it failed, or its subscriber left. */
export const reportEnd = <A>({ report }: Feed): MonoTypeOperatorFunction<A> =>
  tap<A>({
    error: (error: unknown) => {
      report(() => ({ _tag: 'FeedEnded', how: 'failed', ...(isLedgerError(error) && { error }) }));
    },
    unsubscribe: () => {
      report(() => ({ _tag: 'FeedEnded', how: 'unsubscribed' }));
    },
  });

/**
 * The steps of a feed, one after another, each from the place that the one before it led to; the first is where it begins.
 * A step is emitted before the next begins, so that beyond what is read ahead nothing is asked for that may not be needed.
 *
 * @param room$ - emits once the next step may begin; by default that is at once. What is read ahead would be given up
 * meanwhile, so that it is for feeds that read no ranges ahead.
 */
export const steps = (feed: Feed, room$: Observable<unknown> = of(true)): Observable<Step> =>
  defer((): Step[] => [{ place: startPosition(feed.request) }]).pipe(
    // one after another also where answers are there at once, rather than one within another
    expand((step) => stepAfter(feed, step, room$).pipe(subscribeOn(queueScheduler))),
    reportLifecycle(feed),
  );

const stepAfter = (feed: Feed, last: Step, room$: Observable<unknown>): Observable<Step> =>
  // expand asks for more even if its subscriber has just left; nothing comes out of a first Observable then
  room$.pipe(
    tap(() => {
      reportCaughtUp(feed)(last);
    }),
    concatMap(() => {
      const { place, page } = last;
      if (page?.failure !== undefined) throw page.failure;
      // by a socket, one request comes to many steps
      let here = place;
      return stepFrom(feed, place).pipe(
        map((step) => withCaughtUp(feed, place, step)),
        tap((step) => {
          here = step.place;
        }),
        handleGap(feed, () => here),
      );
    }),
  );

/** The next step of a feed: one request, asked until it is answered well. */
function stepFrom(feed: Feed, place: Position): Observable<Step> {
  switch (place.next) {
    case 'ledgerEnd':
      return readLedgerEnd(feed, place);
    case 'page':
      return readPage(feed, place);
    case 'pageDown':
      return readDownward(feed, place);
    case 'poll':
      return mayOpenSocket(feed, place) ? followBySocket(feed, place) : poll(feed, place);
    case 'listening':
    case 'nothing':
      return EMPTY;
  }
}

/** Lets the caller choose where to go on beyond a gap; without a choice, the gap is an error. */
const handleGap = ({ request, onGap, report }: Feed, here: () => Position): MonoTypeOperatorFunction<Step> =>
  catchError((error: unknown) => {
    if (!isGapError(error)) throw error;
    const { cursor, floor } = here();
    const isDownward = request.descendingOrder === true;
    const fail = (): never => {
      report(() => ({ _tag: 'GapFound', cursor, cause: error }));
      throw error;
    };
    if (onGap === 'fail') return fail();
    return defer(() => from(onGap({ cursor, error }))).pipe(
      take(1),
      tap({
        error: () => {
          report(() => ({ _tag: 'GapFound', cursor, cause: error }));
        },
      }),
      throwIfEmpty(fail),
      map((offset): Step => {
        if (!Offset.is(offset)) throw new TypeError('onGap gave no offset');
        // there it is the same again, and would be for ever
        const isNoWayOn =
          error._tag === 'PrunedError' ? offset <= (isDownward ? floor : cursor) : !isDownward && offset >= cursor;
        if (isNoWayOn) return fail();
        report(() => ({ _tag: 'GapFound', cursor, cause: error, resumesFrom: offset }));
        const range = { ...request, beginExclusive: offset };
        return { place: startPosition(isDownward ? { ...range, endInclusive: cursor - 1 } : range) };
      }),
    );
  });

/** Tells of a feed's start and of its end. */
const reportLifecycle =
  <A>(feed: Feed): MonoTypeOperatorFunction<A> =>
  (source) => {
    const { request, report } = feed;
    const { beginExclusive, endInclusive } = request;
    return source.pipe(
      tap<A>({
        subscribe: () => {
          report(() => ({
            _tag: 'FeedStarted',
            beginExclusive,
            ...(typeof endInclusive === 'number' && { endInclusive }),
          }));
        },
        complete: () => {
          report(() => ({ _tag: 'FeedEnded', how: 'completed' }));
        },
      }),
      reportEnd(feed),
    );
  };
