import {
  asyncScheduler,
  catchError,
  concat,
  connect,
  defer,
  map,
  merge,
  mergeMap,
  takeWhile,
  throwError,
  timeout,
  type Observable,
} from 'rxjs';
import { ConnectionError } from '../errors/ConnectionError.js';
import { socketTo, type Said } from '../http/socketTo.js';
import { afterSocket } from './afterSocket.js';
import { received } from './received.js';
import type { Feed } from './Feed.js';
import { hear, type Heard } from './hear.js';
import { lookBeside } from './lookBeside.js';
import type { Page } from './Page.js';
import type { Place, Step } from './Place.js';
import { updatesBody } from './updatesBody.js';

/** How long a socket that is alive may bring nothing, in milliseconds: checkpoints come every 75 000 at the latest. */
const stuckMs = 100_000;

/**
 * Follows by a WebSocket: a step for each element that the service pushes. However the socket ends, the feed catches up
 * by HTTP from where it stands; that also finds out what is wrong, if anything is.
 */
export const listen = (feed: Feed, place: Place): Observable<Step> =>
  defer(() => {
    const { request, service, report } = feed;
    const path = service.learned.updatesPath;
    const { cursor: beginExclusive } = place;
    let heard: Heard = { path, beginExclusive, last: beginExclusive, lastUpdate: beginExclusive, count: 0 };
    let cursor = beginExclusive;
    const here = (): Place => ({ ...place, cursor });
    const listening = (): Step => ({ place: { ...here(), next: 'listening', pollLimit: 1, fruitless: 0 } });
    let lastAt = asyncScheduler.now();
    const silent = () => throwError(() => new ConnectionError(path, 'the socket brought nothing'));
    const pushed$ = socketTo(service.link, path, updatesBody(request, { beginExclusive }, path)).pipe(
      mergeMap((said: Said) => {
        if (said._tag === 'Said') return [said.json];
        report(() => ({ _tag: 'SocketOpened', path, beginExclusive }));
        return [];
      }),
      timeout({ each: stuckMs, with: silent }),
      map((json): Step => {
        const now = asyncScheduler.now();
        const { page, heard: next } = hear(feed, heard, json, now - lastAt);
        heard = next;
        lastAt = now;
        cursor = Math.max(cursor, page.last);
        report(() => received(page, path));
        return { ...listening(), page };
      }),
      catchError((error: unknown) => [afterSocket(feed, here(), heard, error)]),
    );
    // something on the way, or the service itself, may keep back what is to be pushed, and answer pings all the same
    const look = (page: Page): Step => {
      cursor = page.last;
      if (page.updates.length === 0 && page.failure === undefined) return listening();
      const cause = new ConnectionError(path, 'the socket kept back what there is');
      // what it has brought does not speak for it
      return { ...afterSocket(feed, here(), { ...heard, count: 0 }, cause), page };
    };
    let end: readonly Step[] = [];
    const steps$ = pushed$.pipe(
      connect((brought$) => merge(brought$, brought$.pipe(lookBeside(feed, here), map(look)))),
      takeWhile((step) => {
        const goesOn = step.page?.failure === undefined && step.place.next === 'listening';
        if (!goesOn) end = [step];
        return goesOn;
      }),
    );
    // all is hung up by the time that the feed goes on elsewhere
    return concat(
      steps$,
      defer(() => end),
    );
  });
