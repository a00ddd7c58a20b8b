import { asyncScheduler, concatMap, defer, map, type MonoTypeOperatorFunction, type Observable, timer } from 'rxjs';
import type { LedgerFeed } from './LedgerFeed.js';
import type { Page } from './Page.js';
import { requestPageWithRetry } from './pageRequest.js';
import { catchUpOrPoll, type Position, type Step, unknownDensity } from './Position.js';

/**
 * Follows the ledger with one request without an end. Its limit is so small that the participant responds with the
 * first update, rather than after the idle timeout or with a full page.
 */
export const poll = (feed: LedgerFeed, position: Position): Observable<Step> =>
  defer(() => {
    const limit = Math.min(position.pollLimit, feed.maxPageSize);
    const idleTimeoutMs = idleTimeoutOf(feed, limit, position.idlePolls);
    const polledAt = asyncScheduler.now();
    return requestPageWithRetry(feed, { beginExclusive: position.cursor }, { limit, idleTimeoutMs }).pipe(
      map((page) => ({ page, position: positionAfterPoll(feed, { ...position, polledAt, pollLimit: limit }, page) })),
    );
  }).pipe(limitRate(position));

/**
 * The number of consecutive polls without an update after which a ledger counts as quiet. One poll may be empty because
 * of a checkpoint.
 */
const quietAfterPolls = 2;

/**
 * The idle timeout of a poll for more than the next update, in milliseconds. It is so short that even a full page of a
 * slow ledger arrives before the request times out.
 */
const drainIdleMs = 25;

/** On a quiet ledger, polls wait longer, so that there are fewer. */
function idleTimeoutOf({ idleTimeoutMs, quietTimeoutMs }: LedgerFeed, limit: number, idlePolls: number): number {
  if (limit > 2) return Math.min(drainIdleMs, idleTimeoutMs);
  return idlePolls < quietAfterPolls ? idleTimeoutMs : quietTimeoutMs;
}

/** The minimum time between two polls of a quiet ledger, in milliseconds, even if the participant does not wait. */
const minPollIntervalMs = 1_000;

const limitRate =
  ({ idlePolls, polledAt }: Position): MonoTypeOperatorFunction<Step> =>
  (source) =>
    defer(() => {
      if (idlePolls < quietAfterPolls) return source;
      // the cap matters if the clock was set back
      const delayMs = Math.min(minPollIntervalMs, polledAt + minPollIntervalMs - asyncScheduler.now());
      return delayMs > 0 ? timer(delayMs).pipe(concatMap(() => source)) : source;
    });

/** How long a quiet feed polls before it reads the ledger end. Otherwise, pruning could overtake its cursor. */
const ledgerEndMaxAgeMs = 30_000;

function positionAfterPoll(feed: LedgerFeed, position: Position, page: Page): Position {
  const { request, service } = feed;
  const now = asyncScheduler.now();
  const end = request.endInclusive ?? Infinity;
  const hasUpdate = page.updates.some(({ _tag }) => _tag !== 'OffsetCheckpoint');
  const isStale = page.count === 0 && (end < Infinity || Math.abs(now - position.ledgerEndReadAt) > ledgerEndMaxAgeMs);
  const { hasLedgerEnd } = service;
  service.pollAnswered();
  const next = hasUpdate || isStale || !hasLedgerEnd ? catchUpOrPoll(feed) : 'poll';
  return {
    ...position,
    cursor: Math.min(page.last, end),
    // by now, the last known ledger end may be before the cursor
    ...(next === 'page' && { ...unknownDensity, target: end }),
    next: page.last >= end ? 'end' : next,
    pollLimit: nextPollLimit({
      page,
      hasUpdate,
      hasLedgerEnd,
      limit: position.pollLimit,
      tookMs: now - position.polledAt,
    }),
    // a poll for more than the next update does not show how quiet the ledger is
    idlePolls: hasUpdate || position.pollLimit > 2 ? 0 : position.idlePolls + 1,
  };
}

/** A poll and its response. */
interface AnsweredPoll {
  readonly page: Page;
  readonly hasUpdate: boolean;
  readonly hasLedgerEnd: boolean;
  readonly limit: number;
  readonly tookMs: number;
}

/**
 * A checkpoint that arrives within this time, in milliseconds, was sent because of the poll. The next poll gets one,
 * too.
 */
const earlyCheckpointMs = 1_000;

/**
 * Returns the limit of the next poll: 1, so that the participant responds with the first update; 2 if it has just sent
 * only an early checkpoint. Since 3.5.1, participants send a checkpoint 500 ms after the start, and it counts toward
 * the limit. If the ledger end is unavailable, the limit grows fourfold with each full response.
 */
function nextPollLimit({ page, hasUpdate, hasLedgerEnd, limit, tookMs }: AnsweredPoll): number {
  if (!hasUpdate) return page.count > 0 && tookMs < earlyCheckpointMs ? 2 : 1;
  if (hasLedgerEnd || !page.isFull) return 1;
  return limit * 4;
}
