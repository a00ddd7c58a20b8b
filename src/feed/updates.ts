import { concat, concatMap, defer, EMPTY, from, repeat, takeWhile, tap, throwError, type Observable } from 'rxjs';
import type { Update } from '../codecs/Update.js';
import type { Feed } from './Feed.js';
import type { InvalidUpdate } from './InvalidUpdate.js';
import type { Step } from './Place.js';
import { startOf } from './startOf.js';
import { stepFrom } from './stepFrom.js';

/**
 * The updates of a feed: one step after another, each from the place that the one before it led to. A page is emitted
 * before the next step begins, so that nothing is ever asked for that may not be needed, and nothing piles up.
 */
export const updates = (feed: Feed): Observable<Update | InvalidUpdate> =>
  defer(() => {
    let place = startOf(feed);
    if (place.next === 'nothing') return EMPTY;
    return defer(() => stepFrom(feed, place)).pipe(
      tap((step) => {
        place = step.place;
      }),
      repeat(),
      takeWhile((step) => step.place.next !== 'nothing', true),
      concatMap(emitted),
    );
  });

function emitted({ page }: Step): Observable<Update | InvalidUpdate> {
  if (page === undefined) return EMPTY;
  const { updates: good, failure } = page;
  return failure === undefined
    ? from(good)
    : concat(
        from(good),
        throwError(() => failure),
      );
}
