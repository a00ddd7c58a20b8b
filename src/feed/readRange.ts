import { AsyncSubject, catchError, concatMap, defaultIfEmpty, defer, EMPTY, ignoreElements, map, of } from 'rxjs';
import { share, takeUntil, timer } from 'rxjs';
import type { MonoTypeOperatorFunction, Observable } from 'rxjs';
import type { Offset } from '../codecs/Offset.js';
import { askPageOnce } from './askPageOnce.js';
import type { Feed } from './Feed.js';
import type { Page } from './Page.js';
import type { Answered, Reading } from './Reading.js';

/** How long a page waits at least for the proof that there is no more in its range, in milliseconds. */
const leastPatienceMs = 500;

/**
 * Reads a page of a range of the ledger, ahead of its turn or in it. Never with an idle timeout, which could cut it.
 *
 * Only an empty answer proves that there is no more in a range: a service may send less than it was asked for. Of a range
 * that has others behind it, that is asked for along with it, so that its turn does not have to wait for it.
 */
export function readRange(feed: Feed, beginExclusive: Offset, endInclusive: Offset, isLast: boolean): Reading {
  const answer$ = defer(() => {
    const { learned } = feed.service;
    const end = Math.min(endInclusive, beginExclusive + learned.longestRange);
    return readUpTo(feed, beginExclusive, end, feed.maxPageSize).pipe(
      concatMap((answered) => {
        learned.longestRange *= 2;
        const { page, reached } = answered;
        if (isLast || reached === end || page.isFull || page.failure !== undefined) return of(answered);
        return readUpTo(feed, reached, end, feed.maxPageSize - page.count).pipe(
          map((rest): Answered => ({ page: joined(page, rest.page), reached: rest.reached, requests: 2 })),
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
  }).pipe(kept());
  const ahead$ = answer$.pipe(
    ignoreElements(),
    catchError(() => EMPTY),
    kept(),
  );
  return { beginExclusive, endInclusive, answer$, ahead$ };
}

/** Whoever comes later has the answer at once; after an error it is asked for anew; when nobody waits any more, aborted. */
const kept = <A>(): MonoTypeOperatorFunction<A> =>
  share({ connector: () => new AsyncSubject(), resetOnComplete: false });

const readUpTo = (feed: Feed, beginExclusive: Offset, endInclusive: Offset, limit: number): Observable<Answered> =>
  askPageOnce(feed, { beginExclusive, endInclusive }, { limit }).pipe(
    map((page) => ({
      page,
      reached: page.count === 0 ? endInclusive : Math.min(page.last, endInclusive),
      requests: 1,
    })),
  );

const joined = (page: Page, rest: Page): Page => ({
  ...rest,
  updates: [...page.updates, ...rest.updates],
  count: page.count + rest.count,
});
