import { asyncScheduler, catchError, defer, map, merge, mergeMap, takeWhile, tap } from 'rxjs';
import { throwError, timeout, type Observable } from 'rxjs';
import { ConnectionError } from '../errors/ConnectionError.js';
import { socketTo, type Said } from '../http/socketTo.js';
import { afterSocket } from './afterSocket.js';
import { received } from './received.js';
import type { Feed } from './Feed.js';
import { hear, type Heard } from './hear.js';
import { lookBeside } from './lookBeside.js';
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
    const failing = (reason: string): Observable<never> => throwError(() => new ConnectionError(path, reason));
    const brought$ = socketTo(service.link, path, updatesBody(request, { beginExclusive: cursor }, path)).pipe(
      mergeMap((said: Said) => {
        if (said._tag === 'Said') return [said.json];
        report(() => ({ _tag: 'SocketOpened', path, beginExclusive: cursor }));
        return [];
      }),
      timeout({ each: stuckMs, with: () => failing('the socket brought nothing') }),
    );
    let looked = cursor;
    const here = (): Place => ({ ...place, cursor: Math.max(heard.last, looked) });
    const pushed$ = brought$.pipe(
      map((json): Step => {
        const now = asyncScheduler.now();
        const { page, heard: next } = hear(feed, heard, json, now - lastAt);
        heard = next;
        lastAt = now;
        report(() => received(page, path));
        return { page, place: { ...here(), next: 'listening', pollLimit: 1, fruitless: 0 } };
      }),
    );
    let failure: unknown;
    // something on the way may keep back what is pushed, and answer pings all the same
    const keptBack$ = lookBeside(feed, here, () => heard.count > 0).pipe(
      mergeMap((page): readonly Step[] => {
        const updates = page.updates.filter(({ offset }) => offset > heard.last);
        looked = Math.max(looked, page.last);
        if (updates.length === 0 && page.failure === undefined) return [];
        const cause = new ConnectionError(path, 'the socket kept back what there is');
        return [{ ...afterSocket(feed, here(), heard, cause), page: { ...page, updates } }];
      }),
      tap({
        error: (error: unknown) => {
          failure = error;
        },
      }),
    );
    return merge(pushed$, keptBack$).pipe(
      takeWhile((step) => step.page?.failure === undefined && step.place.next === 'listening', true),
      catchError((error: unknown) => {
        // what an answer by HTTP says, it says of the feed
        if (error === failure) throw error;
        return [afterSocket(feed, here(), heard, error)];
      }),
    );
  });
