import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  endWith,
  map,
  merge,
  type MonoTypeOperatorFunction,
  type Observable,
  takeWhile,
  tap,
  timer,
} from 'rxjs';
import { partiesIn } from '../errors/readAnswer.js';
import { monotonicNow } from '../http/clock.js';
import { exchange } from '../client/exchange.js';
import type { AnyFeed, LedgerFeed, Phase, Position, RecentPolls, Step } from './LedgerFeed.js';
import type { FeedElement, Page } from './Page.js';
import { catchUpOrFollow, withoutDensity } from './ledgerEnd.js';
import { requestPage, resetIfBeyondEnd, retryRequest } from './pageRequest.js';
import { learnParticipant } from './prove.js';

/** Waits for new updates, once the participant is known. */
export const follow = <A extends FeedElement>(feed: LedgerFeed<A>, position: Position): Observable<Step<A>> => {
  const steps$ = concat(
    learnParticipant(feed),
    defer(() => feed.source.follow(feed, position)),
  );
  // the poll must not wait for it
  return merge(reportUnknownParties(feed, position), steps$.pipe(endWith(undefined))).pipe(
    takeWhile((step) => step !== undefined),
  );
};

/**
 * Follows the ledger with one request without an end. Its limit is so small that the participant responds with the
 * first update, rather than after the idle timeout or with a full page.
 */
export const poll = <A extends FeedElement>(feed: LedgerFeed<A>, position: Position): Observable<Step<A>> =>
  defer(() => {
    const { cursor } = position;
    const limit = Math.min(position.polls.limit, feed.maxPageSize);
    const polls = { ...position.polls, limit, sentAt: monotonicNow() };
    const idleTimeoutMs = idleTimeoutOf(feed, polls);
    return requestPage(feed, { beginExclusive: cursor }, { limit, idleTimeoutMs }).pipe(
      resetIfBeyondEnd(cursor),
      retryRequest(feed),
      map((page) => ({ page, position: positionAfterPoll(feed, { ...position, polls }, page) })),
    );
  }).pipe(limitRate(position.polls));

/** How many parties of a feed are looked up. */
const maxParties = 10;

/**
 * Reports each party of a feed that the participant hosts on none of the synchronizers to which it is connected: it answers
 * requests for such a party with nothing. Looks them up once, when a feed that has found nothing begins to wait, and only if
 * there is a subscriber to the report. Never fails.
 */
const reportUnknownParties = (
  { client, source, report, history }: AnyFeed,
  { polls, pages, cursor }: Position,
): Observable<never> =>
  defer(() => {
    const hasFound = pages.elements > 0 || history.position.lastUpdate !== undefined;
    if (polls.sentAt > 0 || hasFound || !client.isObserved) return EMPTY;
    const named = partiesIn(JSON.stringify(source.body({ beginExclusive: cursor }, source.path(client))));
    const isHosted = (query: { readonly party?: string }): Observable<boolean> =>
      exchange(
        client,
        { method: 'GET', path: '/v2/state/connected-synchronizers', query },
        (json) => (json as { connectedSynchronizers: unknown[] }).connectedSynchronizers.length > 0,
      );
    return (named.length === 0 ? EMPTY : isHosted({})).pipe(
      concatMap((isConnected) => (isConnected ? named.slice(0, maxParties) : [])),
      concatMap((party) =>
        isHosted({ party }).pipe(
          tap((isKnown) => {
            if (!isKnown) report(() => ({ _tag: 'PartyUnknown', party }));
          }),
        ),
      ),
    );
  }).pipe(
    catchError(() => EMPTY),
    concatMap(() => EMPTY),
  );

/**
 * The number of consecutive polls without an update after which a ledger counts as quiet. One poll may be empty because
 * of a checkpoint.
 */
const quietAfterPolls = 2;

/**
 * How long a poll waits. One for a checkpoint and an update is answered soon after the update even if the checkpoint does not
 * come; the longer checkpoints have come with every poll, the longer it may wait. One for more updates waits for what the
 * participant has. On a quiet ledger, polls wait longer.
 */
function idleTimeoutOf(
  { client, idleTimeoutMs, quietTimeoutMs }: AnyFeed,
  { limit, idle, checkpointStreak }: RecentPolls,
): number {
  if (limit > 2) return Math.min(client.learned.drainMs, idleTimeoutMs);
  const longestMs = idle < quietAfterPolls ? idleTimeoutMs : quietTimeoutMs;
  if (limit === 1) return longestMs;
  return Math.min(longestMs, checkpointWaitMs * 2 ** Math.max(0, checkpointStreak - trustedStreak));
}

/** How long a poll waits for a checkpoint and an update, in milliseconds: a little longer than for that of half a second. */
const checkpointWaitMs = 550;

/** The number of polls in a row that may get an early checkpoint by chance. */
const trustedStreak = 5;

/** The minimum time between two polls that were ended by an early checkpoint each, in milliseconds. */
const earlyPollIntervalMs = 500;

/** The minimum time between two polls of a quiet ledger, in milliseconds, even if the participant does not wait. */
export const minPollIntervalMs = 1_000;

const limitRate =
  <A>({ idle, sentAt, intervalMs }: RecentPolls): MonoTypeOperatorFunction<A> =>
  (source) =>
    defer(() => {
      if (idle < quietAfterPolls) return source;
      // the cap matters if the clock was set back
      const delayMs = Math.min(intervalMs, sentAt + intervalMs - monotonicNow());
      return delayMs > 0 ? timer(delayMs).pipe(concatMap(() => source)) : source;
    });

/** How long a quiet feed polls before it reads the ledger end. Otherwise, pruning could overtake its cursor. */
const ledgerEndMaxAgeMs = 30_000;

function positionAfterPoll(feed: AnyFeed, position: Position, page: Page<FeedElement>): Position {
  const { request, client } = feed;
  const { learned } = client;
  const { polls } = position;
  const end = request.endInclusive ?? Infinity;
  const isNews = hasUpdate(page);
  const endAgeMs = Math.abs(monotonicNow() - position.ledgerEndReadAt);
  const isStale = page.count === 0 && (end < Infinity || endAgeMs > ledgerEndMaxAgeMs);
  learned.pollAnswered();
  const phase: Phase = isNews || isStale || !learned.hasLedgerEnd ? catchUpOrFollow(feed) : { _tag: 'Follow' };
  return {
    ...position,
    cursor: Math.min(page.last, end),
    // by now, the last known ledger end may be before the cursor
    ...(phase._tag === 'CatchUp' && { pages: withoutDensity(position), target: end }),
    phase: page.last >= end ? { _tag: 'End' } : phase,
    polls: {
      ...polls,
      ...nextPoll(feed, position, page),
      // a poll for more than the next update does not show how quiet the ledger is
      idle: isNews || polls.limit > 2 ? 0 : polls.idle + 1,
    },
  };
}

/** Whether a page has more than checkpoints. */
export const hasUpdate = ({ updates }: Page<FeedElement>): boolean =>
  updates.some(({ _tag }) => _tag !== 'OffsetCheckpoint');

/**
 * A checkpoint that arrives within this time, in milliseconds, is early: participants may send one half a second after the
 * start of a poll, or at any moment. It counts toward the limit, and ends a poll for the next update.
 */
const earlyCheckpointMs = 600;

/**
 * Returns the limit of the next poll, and the minimum time between the start of the last poll and that of the next: an early
 * checkpoint neither delays an update by more than a second, nor causes more than a request a second for long.
 *
 * - Normally, the limit is 1, so that the participant responds with the first update.
 * - After an early checkpoint, a poll begins immediately. A checkpoint with news is the last for a while. One that repeats the
 *   cursor may come with each poll, so that the next has a limit of 2: for the checkpoint, and for an update after it.
 * - If the ledger end is unavailable, the limit grows fourfold with each full response.
 */
function nextPoll(
  { client, maxPageSize }: AnyFeed,
  { cursor, polls: { limit, intervalMs, checkpointStreak } }: Position,
  page: Page<FeedElement>,
): Pick<RecentPolls, 'limit' | 'intervalMs' | 'checkpointStreak'> {
  const isLong = page.tookMs >= earlyCheckpointMs;
  const isEarly = hasCheckpoint(page) && (limit === 2 || !isLong);
  // checkpoints do not come with every poll, unless this one was too short
  const broken = isLong || (limit === 2 && !page.isFull) ? -Infinity : checkpointStreak;
  const normal = {
    limit: 1,
    intervalMs: minPollIntervalMs,
    checkpointStreak: hasCheckpoint(page) ? checkpointStreak + 1 : broken,
  };
  if (hasUpdate(page)) {
    const isAll = client.learned.hasLedgerEnd || !page.isFull;
    return isAll ? normal : { ...normal, limit: limit * 4 };
  }
  // without room for the checkpoint and an update, an early poll would only be ended again
  const hasRoom = Math.min(maxPageSize, client.learned.pages.proven) > 1;
  if (!isEarly || !hasRoom) return normal;
  if (limit === 2) return { ...normal, limit: 2 };
  const isFirst = intervalMs === minPollIntervalMs;
  if (!isFirst) return { ...normal, limit: 2, intervalMs: earlyPollIntervalMs };
  return { ...normal, limit: page.last > cursor ? 1 : 2, intervalMs: 0 };
}

const hasCheckpoint = ({ updates }: Page<FeedElement>): boolean =>
  updates.some(({ _tag }) => _tag === 'OffsetCheckpoint');
