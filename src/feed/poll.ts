import { asyncScheduler, concatMap, defer, map, type Observable, timer } from 'rxjs';
import type { Feed } from './Feed.js';
import type { Page } from './Page.js';
import { requestPageWithRetry } from './pageRequest.js';
import { catchUpOrPoll, nothingKnown, type Position, type Step, tellsEnd } from './Position.js';

/**
 * Follows: one request without an end, for so few elements that the first update is answered at once and not when the
 * idle timeout or a full page allows it.
 */
export const poll = (feed: Feed, place: Position): Observable<Step> =>
  defer(() => {
    const { cursor } = place;
    const limit = Math.min(place.pollLimit, feed.maxPageSize);
    const idleTimeoutMs = idleTimeoutOf(feed, limit, place.fruitless);
    const polledAt = asyncScheduler.now();
    return requestPageWithRetry(feed, { beginExclusive: cursor }, { limit, idleTimeoutMs }).pipe(
      map((page) => ({ page, place: placeAfter(feed, { ...place, polledAt, pollLimit: limit }, page) })),
    );
  }).pipe(afterPause(place));

/**
 * How long a poll for more than the next update waits for another one. So short that a full page of a ledger that
 * trickles does not take longer than a service is patient.
 */
const drainIdleMs = 25;

/** Where nothing happens, requests are to be few. */
function idleTimeoutOf({ idleTimeoutMs, quietTimeoutMs }: Feed, limit: number, fruitless: number): number {
  if (limit > 2) return Math.min(drainIdleMs, idleTimeoutMs);
  return fruitless < 2 ? idleTimeoutMs : quietTimeoutMs;
}

/** How old the ledger end may become while nothing comes: the cursor must follow it, or pruning overtakes the cursor. */
const endMaxAgeMs = 30_000;

function placeAfter(feed: Feed, place: Position, page: Page): Position {
  const now = asyncScheduler.now();
  const end = feed.request.endInclusive ?? Infinity;
  const isFruitful = page.updates.some(({ _tag }) => _tag !== 'OffsetCheckpoint');
  const isStale = page.count === 0 && (end < Infinity || Math.abs(now - place.endReadAt) > endMaxAgeMs);
  const { learned } = feed.service;
  const hasLedgerEnd = tellsEnd(feed);
  // a poll that was answered in time may be longer again, little by little
  learned.longestPollMs *= 1.1;
  const next = isFruitful || isStale || !hasLedgerEnd ? catchUpOrPoll(feed) : 'poll';
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

/** What the last poll was and brought. */
interface Polled {
  readonly page: Page;
  readonly isFruitful: boolean;
  readonly hasLedgerEnd: boolean;
  readonly limit: number;
  readonly tookMs: number;
}

/** A checkpoint that comes in this time after a poll's start came because of it, and will come again. */
const earlyMs = 1_000;

/**
 * How many elements the next poll asks for. One, so that the first update is answered at once; two where the service
 * has just sent a checkpoint and nothing else, since 3.5.1 and later send one half a second after the start, and it
 * counts. A service that does not tell its ledger end is polled for four times as many as long as the answers are full.
 */
function pollLimitAfter({ page, isFruitful, hasLedgerEnd, limit, tookMs }: Polled): number {
  if (!isFruitful) return page.count > 0 && tookMs < earlyMs ? 2 : 1;
  if (hasLedgerEnd || !page.isFull) return 1;
  return limit * 4;
}

/** Polls that bring nothing are sent at most once in this time, also to a service that does not wait. */
const leastPollMs = 1_000;

/** Two polls in a row may be fruitless for a good reason: a checkpoint. */
const afterPause =
  ({ fruitless, polledAt }: Position) =>
  <A>(source: Observable<A>): Observable<A> =>
    defer(() => {
      // at most that long, should the clock have been set back
      const wait = fruitless < 2 ? 0 : Math.min(leastPollMs, polledAt + leastPollMs - asyncScheduler.now());
      return wait > 0 ? timer(wait).pipe(concatMap(() => source)) : source;
    });
