import {
  asyncScheduler,
  catchError,
  defer,
  map,
  mergeMap,
  takeWhile,
  tap,
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
    const { cursor } = place;
    let heard: Heard = { path, beginExclusive: cursor, last: cursor, lastUpdate: cursor, count: 0 };
    let lastAt = asyncScheduler.now();
    return socketTo(service.link, path, updatesBody(request, { beginExclusive: cursor }, path)).pipe(
      mergeMap((said: Said) => {
        if (said._tag === 'Said') return [said.json];
        report(() => ({ _tag: 'SocketOpened', path, beginExclusive: cursor }));
        return [];
      }),
      timeout({ each: stuckMs, with: () => throwError(() => new ConnectionError(path, 'the socket brought nothing')) }),
      map((json): Step => {
        const now = asyncScheduler.now();
        const next = hear(feed, heard, json, now - lastAt);
        heard = next.heard;
        lastAt = now;
        const { page } = next;
        return { page, place: { ...place, cursor: page.last, next: 'listening', pollLimit: 1, fruitless: 0 } };
      }),
      tap(({ page }) => {
        if (page) report(() => received(page, path));
      }),
      takeWhile(({ page }) => page?.failure === undefined, true),
      catchError((error: unknown) => [afterSocket(feed, { ...place, cursor: heard.last }, heard, error)]),
    );
  });
