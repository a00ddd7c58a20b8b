import type { Observable } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { UpdatesRange } from '../codecs/UpdatesRequest.js';
import type { LedgerFeed } from './LedgerFeed.js';
import type { Page } from './Page.js';

/** The state of a feed between two requests. */
export interface Position {
  /**
   * The feed has emitted everything up to here that matches the request. In descending order: everything from here on.
   */
  readonly cursor: Offset;
  /** The exclusive end of a feed in descending order. */
  readonly floor: Offset;
  /** The next request. With `'pushed'`, the transport delivers the next step without a request. */
  readonly next: 'ledgerEnd' | 'page' | 'pageDown' | 'poll' | 'pushed' | 'end';
  /** Where pages end: at the last known ledger end, or at the end of the request. */
  readonly target: Offset;
  /** The ranges after the cursor that are already requested, in order. */
  readonly prefetched: readonly PrefetchedRange[];
  /** The number of elements in recent pages: a moving sum in which older pages weigh less. */
  readonly recentElements: number;
  /** The number of offsets that those pages spanned: the same kind of sum. */
  readonly recentOffsets: number;
  /** How many ranges to read at the same time. */
  readonly parallelRanges: number;
  /**
   * The shortest duration of a page request since the feed read the ledger end, in milliseconds: an estimate of the
   * latency.
   */
  readonly fastestMs: number;
  /** Whether the feed has emitted everything up to the ledger end, and has not lagged by a page since. */
  readonly hasCaughtUp: boolean;
  /** When the feed last read the ledger end, in milliseconds. */
  readonly ledgerEndReadAt: number;
  /** The limit of the next poll. */
  readonly pollLimit: number;
  /** When the feed sent the last poll, in milliseconds. */
  readonly polledAt: number;
  /** The number of consecutive polls without an update. */
  readonly idlePolls: number;
}

/** The result of one request: the position after it, and a page if there is one. */
export interface Step {
  readonly position: Position;
  readonly page?: Page;
  /** Set if `hasCaughtUp` has changed with this step. */
  readonly lagChange?: 'CaughtUp' | 'FellBehind';
}

/**
 * A range that the feed is reading. Its request is sent once for all subscribers, and repeated only after a failure.
 */
export interface PrefetchedRange {
  readonly beginExclusive: Offset;
  readonly endInclusive: Offset;
  readonly result$: Observable<RangeResult>;
  /** Sends the request before the range is due, and ignores its result. Unsubscribing aborts it. */
  readonly prefetch$: Observable<never>;
}

/** The result of reading a range. */
export interface RangeResult {
  readonly page: Page;
  /** The page contains everything in the range up to here. */
  readonly reached: Offset;
  /** The number of requests, sent one after the other. */
  readonly requests: number;
}

/** The position before the first request of a range. */
export function startPosition({ beginExclusive, endInclusive, descendingOrder }: UpdatesRange): Position {
  const target = endInclusive ?? beginExclusive;
  const first = descendingOrder === true ? 'pageDown' : 'ledgerEnd';
  return {
    floor: beginExclusive,
    cursor: descendingOrder === true ? target + 1 : beginExclusive,
    next: beginExclusive >= (endInclusive ?? Infinity) ? 'end' : first,
    target,
    prefetched: [],
    ...unknownDensity,
    parallelRanges: 1,
    fastestMs: Infinity,
    hasCaughtUp: false,
    ledgerEndReadAt: 0,
    pollLimit: 1,
    polledAt: 0,
    idlePolls: 0,
  };
}

/**
 * While the density is unknown, one page spans everything up to the target. It shows whether the ledger has reached a
 * target that is not the ledger end; the participant would refuse all ranges after its ledger end.
 */
export const unknownDensity = { recentElements: 0, recentOffsets: 0 } as const;

/** Returns the next request when there may be updates to catch up on. */
export function catchUpOrPoll({ service, request }: LedgerFeed): Position['next'] {
  if (service.hasLedgerEnd) return 'ledgerEnd';
  // if the ledger end is unavailable, pages need the end of the request
  return typeof request.endInclusive === 'number' ? 'page' : 'poll';
}

/** Returns the next request when the feed has read everything up to the ledger end. */
export function waitOrEnd({ request }: LedgerFeed, cursor: Offset): Position['next'] {
  return typeof request.endInclusive === 'number' && cursor >= request.endInclusive ? 'end' : 'poll';
}

/** Adds to a step whether the feed has now caught up. */
export function withCaughtUp(feed: LedgerFeed, before: Position, step: Step): Step {
  const hasCaughtUp = isAtEnd(feed, before, step) || (before.hasCaughtUp && !lagsByPage(feed, before, step));
  const lagChange = hasCaughtUp ? 'CaughtUp' : 'FellBehind';
  return {
    ...step,
    position: { ...step.position, hasCaughtUp },
    ...(hasCaughtUp !== before.hasCaughtUp && { lagChange }),
  };
}

/** Whether the feed has read everything up to the ledger end. */
function isAtEnd({ service }: LedgerFeed, before: Position, { position, page }: Step): boolean {
  if (position.next !== 'poll') return false;
  // if the ledger end is unavailable: polls are full as long as there is more
  return before.next === 'poll' ? page?.isFull === false : service.hasLedgerEnd;
}

/** Whether there is more than a page after the cursor. */
function lagsByPage({ service, maxPageSize }: LedgerFeed, before: Position, { position, page }: Step): boolean {
  // pages of parallel ranges are rarely full
  if (before.next === 'page')
    return position.next === 'page' && (page?.isFull === true || position.prefetched.length > 0);
  return page?.isFull === true && before.next === 'poll' && before.pollLimit >= maxPageSize && !service.hasLedgerEnd;
}

/** Reports that a feed has caught up or fallen behind. Call it after the feed has emitted the page of the step. */
export const reportCaughtUp =
  ({ report }: LedgerFeed) =>
  ({ position: { cursor, target }, lagChange }: Step): void => {
    if (lagChange === 'CaughtUp') report(() => ({ _tag: lagChange, cursor }));
    if (lagChange === 'FellBehind')
      report(() => ({ _tag: lagChange, cursor, ...(target > cursor && { lag: target - cursor }) }));
  };
