import { concatMap, defer, expand, map, of, queueScheduler, subscribeOn, tap, type Observable } from 'rxjs';
import { acrossGap } from './acrossGap.js';
import type { Feed } from './Feed.js';
import type { Step } from './Place.js';
import { startOf } from './startOf.js';
import { stepFrom } from './stepFrom.js';
import { tellEnds } from './tellEnds.js';
import { tellPace } from './tellPace.js';
import { withPace } from './withPace.js';

/**
 * The steps of a feed, one after another, each from the place that the one before it led to; the first is where it begins.
 * A step is emitted before the next begins, so that beyond what is read ahead nothing is asked for that may not be needed.
 *
 * @param room$ - emits once the next step may begin; by default that is at once. What is read ahead would be given up
 * meanwhile, so that it is for feeds that read no ranges ahead.
 */
export const steps = (feed: Feed, room$: Observable<unknown> = of(true)): Observable<Step> =>
  defer((): Step[] => [{ place: startOf(feed.request) }]).pipe(
    // one after another also where answers are there at once, rather than one within another
    expand((step) => stepAfter(feed, step, room$).pipe(subscribeOn(queueScheduler))),
    tellEnds(feed),
  );

const stepAfter = (feed: Feed, last: Step, room$: Observable<unknown>): Observable<Step> =>
  // expand asks for more even if its subscriber has just left; nothing comes out of a first Observable then
  room$.pipe(
    tap(() => {
      tellPace(feed)(last);
    }),
    concatMap(() => {
      const { place, page } = last;
      if (page?.failure !== undefined) throw page.failure;
      // by a socket, one request comes to many steps
      let here = place;
      return stepFrom(feed, place).pipe(
        map((step) => withPace(feed, place, step)),
        tap((step) => {
          here = step.place;
        }),
        acrossGap(feed, () => here),
      );
    }),
  );
