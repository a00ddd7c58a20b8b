import { concatMap, defer, expand, type Observable } from 'rxjs';
import type { Update } from '../codecs/Update.js';
import type { LedgerError } from '../errors/LedgerError.js';
import type { Feed } from './Feed.js';
import type { InvalidUpdate } from './InvalidUpdate.js';
import type { Page } from './Page.js';
import type { Step } from './Place.js';
import { startOf } from './startOf.js';
import { stepFrom } from './stepFrom.js';

/**
 * The updates of a feed: one step after another, each from the place that the one before it led to. A page is emitted
 * before the next step begins, so that nothing is ever asked for that may not be needed, and nothing piles up.
 */
export const updates = (feed: Feed): Observable<Update | InvalidUpdate> =>
  defer((): Step[] => [{ place: startOf(feed) }]).pipe(
    expand(({ place }) => stepFrom(feed, place), 1),
    concatMap(emitted),
  );

function emitted({ page }: Step): Iterable<Update | InvalidUpdate> {
  return page?.failure === undefined ? (page?.updates ?? []) : untilFailure(page.updates, page.failure);
}

function* untilFailure(updates: Page['updates'], failure: LedgerError): Iterable<Update | InvalidUpdate> {
  yield* updates;
  throw failure;
}
