import { concatMap, defer, expand, map, of, tap, type Observable } from 'rxjs';
import type { Update } from '../codecs/Update.js';
import { acrossGap } from './acrossGap.js';
import type { Feed } from './Feed.js';
import type { InvalidUpdate } from './InvalidUpdate.js';
import type { Step } from './Place.js';
import { startOf } from './startOf.js';
import { stepFrom } from './stepFrom.js';
import { tellEnds } from './tellEnds.js';
import { tellPace } from './tellPace.js';
import { withPace } from './withPace.js';

/**
 * The updates of a feed: one step after another, each from the place that the one before it led to. A page is emitted
 * before the next step begins, so that beyond what is read ahead nothing is asked for that may not be needed, nor piles up.
 */
export const updates = (feed: Feed): Observable<Update | InvalidUpdate> =>
  defer((): Step[] => [{ place: startOf(feed.request) }]).pipe(
    expand((step) => stepAfter(feed, step)),
    tellEnds(feed),
    concatMap(({ page }) => page?.updates ?? []),
  );

const stepAfter = (feed: Feed, last: Step): Observable<Step> =>
  // expand asks for more even if its subscriber has just left; nothing comes out of `of` then
  of(last).pipe(
    tap(tellPace(feed)),
    concatMap(({ place, page }) => {
      if (page?.failure !== undefined) throw page.failure;
      return stepFrom(feed, place).pipe(
        map((step) => withPace(feed, place, step)),
        acrossGap(feed, place),
      );
    }),
  );
