import { asyncScheduler, defer, map, concatMap, timer, type Observable } from 'rxjs';
import { askPage } from './askPage.js';
import type { Feed } from './Feed.js';
import { catchingUp, nothingKnown, tellsEnd } from './nextOf.js';
import type { Page } from './Page.js';
import type { Place, Step } from './Place.js';
import { pollLimitAfter } from './pollLimitAfter.js';

/** Polls that bring nothing are sent at most once in this time, also to a service that does not wait. */
const leastPollMs = 1_000;

/** How old the ledger end may become while nothing comes: the cursor must follow it, or pruning overtakes the cursor. */
const endMaxAgeMs = 30_000;

/**
 * How long a poll for more than the next update waits for another one. So short that a full page of a ledger that
 * trickles does not take longer than a service is patient.
 */
const drainIdleMs = 25;

/**
 * Follows: one request without an end, for so few elements that the first update is answered at once and not when the
 * idle timeout or a full page allows it.
 */
export const poll = (feed: Feed, place: Place): Observable<Step> =>
  defer(() => {
    const { cursor } = place;
    const limit = Math.min(place.pollLimit, feed.maxPageSize);
    const idleTimeoutMs = idleTimeoutOf(feed, limit, place.fruitless);
    const polledAt = asyncScheduler.now();
    return askPage(feed, { beginExclusive: cursor }, { limit, idleTimeoutMs }).pipe(
      map((page) => ({ page, place: placeAfter(feed, { ...place, polledAt, pollLimit: limit }, page) })),
    );
  }).pipe(afterPause(place));

/** Where nothing happens, requests are to be few. */
function idleTimeoutOf({ idleTimeoutMs, quietTimeoutMs }: Feed, limit: number, fruitless: number): number {
  if (limit > 2) return Math.min(drainIdleMs, idleTimeoutMs);
  return fruitless < 2 ? idleTimeoutMs : quietTimeoutMs;
}

/** Two polls in a row may be fruitless for a good reason: a checkpoint. */
const afterPause =
  ({ fruitless, polledAt }: Place) =>
  <A>(source: Observable<A>): Observable<A> =>
    defer(() => {
      // at most that long, should the clock have been set back
      const wait = fruitless < 2 ? 0 : Math.min(leastPollMs, polledAt + leastPollMs - asyncScheduler.now());
      return wait > 0 ? timer(wait).pipe(concatMap(() => source)) : source;
    });

function placeAfter(feed: Feed, place: Place, page: Page): Place {
  const now = asyncScheduler.now();
  const end = feed.request.endInclusive ?? Infinity;
  const isFruitful = page.updates.some(({ _tag }) => _tag !== 'OffsetCheckpoint');
  const isStale = page.count === 0 && (end < Infinity || Math.abs(now - place.endReadAt) > endMaxAgeMs);
  const { learned } = feed.service;
  const hasLedgerEnd = tellsEnd(feed);
  // a poll that was answered in time may be longer again, little by little
  learned.longestPollMs *= 1.1;
  const next = isFruitful || isStale || !hasLedgerEnd ? catchingUp(feed) : 'poll';
  return {
    ...place,
    cursor: Math.min(page.last, end),
    // an end that was told before may lie behind the cursor by now
    ...(next === 'page' && { ...nothingKnown, target: end }),
    next: page.last >= end ? 'nothing' : next,
    pollLimit: pollLimitAfter({ page, isFruitful, hasLedgerEnd, limit: place.pollLimit, tookMs: now - place.polledAt }),
    // that there is no more behind an update is no idleness
    fruitless: isFruitful || place.pollLimit > 2 ? 0 : place.fruitless + 1,
  };
}
