import {
  asyncScheduler,
  catchError,
  concat,
  connect,
  defer,
  EMPTY,
  exhaustMap,
  map,
  merge,
  mergeMap,
  type Observable,
  type OperatorFunction,
  startWith,
  switchMap,
  takeWhile,
  throwError,
  timeout,
  timer,
} from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import { isLedgerResetError } from '../errors/feed.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { ConnectionError } from '../errors/request.js';
import { isTransient, verdict } from '../errors/verdict.js';
import { jitter } from '../http/retry.js';
import { type SocketMessage, socketTo } from '../http/socket.js';
import type { Feed } from './Feed.js';
import { readLedgerEndOnce } from './ledgerEnd.js';
import { checkOrder, type Page, decodeElements } from './Page.js';
import { requestPage, pageReceived, updatesBody } from './pageRequest.js';
import { catchUpOrPoll, type Position, type Step, tellsEnd } from './Position.js';
import { leavesSocketsAlone, switchPath, type UpdatesPath } from './Service.js';

/** What a socket has brought so far. */
interface SocketProgress {
  readonly path: UpdatesPath;
  /** After which offset the service was asked for updates. */
  readonly beginExclusive: Offset;
  /** The offset of the last element. */
  readonly last: Offset;
  /** The offset of the last that is no checkpoint. */
  readonly lastUpdate: Offset;
  /** How many elements. */
  readonly count: number;
}

/** How long a socket that is alive may bring nothing, in milliseconds: checkpoints come every 75 000 at the latest. */
const stuckMs = 100_000;

/**
 * Follows by a WebSocket: a step for each element that the service pushes. However the socket ends, the feed catches up
 * by HTTP from where it stands; that also finds out what is wrong, if anything is.
 */
export const followBySocket = (feed: Feed, place: Position): Observable<Step> =>
  defer(() => {
    const { request, service, report } = feed;
    const path = service.learned.updatesPath;
    const { cursor: beginExclusive } = place;
    let heard: SocketProgress = { path, beginExclusive, last: beginExclusive, lastUpdate: beginExclusive, count: 0 };
    let cursor = beginExclusive;
    const here = (): Position => ({ ...place, cursor });
    const listening = (): Step => ({ place: { ...here(), next: 'listening', pollLimit: 1, fruitless: 0 } });
    let lastAt = asyncScheduler.now();
    const silent = () => throwError(() => new ConnectionError(path, 'the socket brought nothing'));
    const pushed$ = socketTo(service.link, path, updatesBody(request, { beginExclusive }, path)).pipe(
      mergeMap((said: SocketMessage) => {
        if (said._tag === 'Said') return [said.json];
        report(() => ({ _tag: 'SocketOpened', path, beginExclusive }));
        return [];
      }),
      timeout({ each: stuckMs, with: silent }),
      map((json): Step => {
        const now = asyncScheduler.now();
        const { page, heard: next } = socketPage(feed, heard, json, now - lastAt);
        heard = next;
        lastAt = now;
        cursor = Math.max(cursor, page.last);
        report(() => pageReceived(page, path));
        return { ...listening(), page };
      }),
      catchError((error: unknown) => [socketEnded(feed, here(), heard, error)]),
    );
    // something on the way, or the service itself, may keep back what is to be pushed, and answer pings all the same
    const look = (page: Page): Step => {
      cursor = page.last;
      if (page.updates.length === 0 && page.failure === undefined) return listening();
      const cause = new ConnectionError(path, 'the socket kept back what there is');
      // what it has brought does not speak for it
      return { ...socketEnded(feed, here(), { ...heard, count: 0 }, cause), page };
    };
    let end: readonly Step[] = [];
    const steps$ = pushed$.pipe(
      connect((brought$) => merge(brought$, brought$.pipe(checkOverHttp(feed, here), map(look)))),
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

/** The page of one element that a message is, and what has come with it. */
function socketPage(
  { onInvalid }: Feed,
  heard: SocketProgress,
  json: unknown,
  tookMs: number,
): { page: Page; heard: SocketProgress } {
  const elements = decodeElements(heard.path, [json], onInvalid);
  const { updates, last, lastUpdate, failure = elements.failure } = checkOrder(elements.updates, heard, heard);
  const page: Page = { updates, last, count: 1, isFull: false, tookMs, ...(failure !== undefined && { failure }) };
  return { page, heard: { ...heard, last, lastUpdate, count: heard.count + 1 } };
}

/** How long none of the ledger's feeds opens another: they poll, and miss nothing. Where none brings anything, ever longer. */
const backOff = { baseDelayMs: 1_000, maxDelayMs: 300_000 };

/** Catches up, from where a socket has brought the feed before it ended. */
function socketEnded(feed: Feed, place: Position, { path, count }: SocketProgress, error: unknown): Step {
  if (!isLedgerError(error)) throw error;
  const { learned } = feed.service;
  const isElsewhere = verdict(error) === 'switch' && switchPath({ learned, report: feed.report }, path);
  if (count > 0 || isElsewhere) learned.socketFailures = 0;
  // where those of many feeds end at a time, that is one failure
  else if (!leavesSocketsAlone(learned)) learned.socketFailures += 1;
  const againInMs = isElsewhere ? 0 : jitter(learned.socketFailures, backOff);
  learned.socketEndedAt = asyncScheduler.now();
  learned.noSocketForMs = againInMs;
  feed.report(() => ({ _tag: 'SocketClosed', path, cause: error, againInMs }));
  return { place: { ...place, next: catchUpOrPoll(feed) } };
}

/** How long a socket that has brought nothing yet is silent before it is looked beside, and how often then, in milliseconds. */
const freshMs = 10_000;

/** The same for one that has brought something. Checkpoints come every 15 000 where the ledger goes on. */
const provenMs = 20_000;

/**
 * Looks by HTTP for what a socket keeps back, while it brings nothing: pages, each with how far it reaches. What fails
 * here and may succeed later is left to the socket, which may well be better off.
 */
const checkOverHttp =
  (feed: Feed, here: () => Position): OperatorFunction<unknown, Page> =>
  (brought$) =>
    brought$.pipe(
      startWith(undefined),
      // what comes meanwhile ends the look: it may be what was looked for
      switchMap((_, count) => {
        const everyMs = count === 0 ? freshMs : provenMs;
        return timer(everyMs, everyMs).pipe(exhaustMap(() => (tellsEnd(feed) ? missedPage(feed, here()) : EMPTY)));
      }),
    );

const missedPage = (feed: Feed, place: Position): Observable<Page> =>
  readLedgerEndOnce(feed, place).pipe(
    mergeMap(({ place: { next, cursor: beginExclusive, target: endInclusive } }) =>
      next === 'page'
        ? requestPage(feed, { beginExclusive, endInclusive }, { limit: feed.maxPageSize }).pipe(
            map((page) => ({ ...page, last: page.count === 0 ? endInclusive : Math.min(page.last, endInclusive) })),
          )
        : EMPTY,
    ),
    catchError((error: unknown) => {
      if (isLedgerError(error) && (isTransient(error) || isLedgerResetError(error))) return EMPTY;
      throw error;
    }),
  );

/** Whether what comes next is to be pushed: by a feed that has caught up and has no end, and not after a socket failed. */
export const mayOpenSocket = ({ transport, request, service }: Feed, { hasCaughtUp }: Position): boolean =>
  transport === 'websocket' &&
  hasCaughtUp &&
  typeof request.endInclusive !== 'number' &&
  !leavesSocketsAlone(service.learned);
