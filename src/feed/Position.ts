import type { Observable } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { UpdatesRange } from '../codecs/UpdatesRequest.js';
import type { LedgerFeed } from './LedgerFeed.js';
import type { Page } from './Page.js';

/** The state of a feed between two requests. */
export interface Position {
  /**
   * Everything up to here has been emitted, or does not match the request. In descending order: everything from here on.
   */
  readonly cursor: Offset;
  /** The exclusive end of a feed in descending order. */
  readonly floor: Offset;
  /** The next request. With `'pushed'`, the transport delivers the next step without one. */
  readonly next: 'ledgerEnd' | 'page' | 'pageDown' | 'poll' | 'pushed' | 'end';
  /** Where pages end: at the last known ledger end, or at the end of the request. */
  readonly target: Offset;
  /** The ranges after the cursor that are already requested, in order. */
  readonly prefetched: readonly PrefetchedRange[];
  /** The number of elements in recent pages: a moving sum in which older pages weigh less. */
  readonly recentElements: number;
  /** The number of offsets that those pages spanned, summed in the same way. */
  readonly recentOffsets: number;
  /** How many ranges to read at the same time. */
  readonly parallelRanges: number;
  /** The shortest time of a page since the ledger end was read, in milliseconds: an estimate of the latency. */
  readonly fastestMs: number;
  /** Whether the feed has emitted everything up to the ledger end, and has not lagged by a page since. */
  readonly hasCaughtUp: boolean;
  /** When the ledger end was read last, in milliseconds. */
  readonly ledgerEndReadAt: number;
  /** The limit of the next poll. */
  readonly pollLimit: number;
  /** When the last poll was sent, in milliseconds. */
  readonly polledAt: number;
  /** The number of polls in a row that have brought no update. */
  readonly idlePolls: number;
}

/** The result of one request: the position after it, and perhaps a page. */
export interface Step {
  readonly position: Position;
  readonly page?: Page;
  /** Set if `hasCaughtUp` has changed with this step. */
  readonly lagChange?: 'CaughtUp' | 'FellBehind';
}

/** A range that is being read. Its request is sent once for all subscribers, and repeated only after a failure. */
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
  /** The range contains nothing else up to here. */
  readonly reached: Offset;
  /** How many requests it took, one after the other. */
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
 * Without a density, one page spans everything up to the target. It shows whether the ledger has reached a target that is
 * not its end; ranges after the ledger end would all be refused.
 */
export const unknownDensity = { recentElements: 0, recentOffsets: 0 } as const;

/** The next request when there may be updates to catch up on. */
export function catchUpOrPoll({ service, request }: LedgerFeed): Position['next'] {
  if (service.hasLedgerEnd) return 'ledgerEnd';
  // without the ledger end, pages need the end of the request
  return typeof request.endInclusive === 'number' ? 'page' : 'poll';
}

/** The next request when everything up to the ledger end has been read. */
export function waitOrEnd({ request }: LedgerFeed, cursor: Offset): Position['next'] {
  return typeof request.endInclusive === 'number' && cursor >= request.endInclusive ? 'end' : 'poll';
}

/** Adds to a step whether the feed has caught up with it. */
export function withCaughtUp(feed: LedgerFeed, before: Position, step: Step): Step {
  const hasCaughtUp = isAtEnd(feed, before, step) || (before.hasCaughtUp && !lagsByPage(feed, before, step));
  const lagChange = hasCaughtUp ? 'CaughtUp' : 'FellBehind';
  return {
    ...step,
    position: { ...step.position, hasCaughtUp },
    ...(hasCaughtUp !== before.hasCaughtUp && { lagChange }),
  };
}

/** Whether everything up to the ledger end has been read. */
function isAtEnd({ service }: LedgerFeed, before: Position, { position, page }: Step): boolean {
  if (position.next !== 'poll') return false;
  // without the ledger end, polls are full as long as there is more
  return before.next === 'poll' ? page?.isFull === false : service.hasLedgerEnd;
}

/** Whether there is more than a page after the cursor. */
function lagsByPage({ service, maxPageSize }: LedgerFeed, before: Position, { position, page }: Step): boolean {
  // pages of parallel ranges are not quite full
  if (before.next === 'page')
    return position.next === 'page' && (page?.isFull === true || position.prefetched.length > 0);
  return page?.isFull === true && before.next === 'poll' && before.pollLimit >= maxPageSize && !service.hasLedgerEnd;
}

/** Reports that a feed has caught up or fallen behind. Call it after the page of the step has been emitted. */
export const reportCaughtUp =
  ({ report }: LedgerFeed) =>
  ({ position: { cursor, target }, lagChange }: Step): void => {
    if (lagChange === 'CaughtUp') report(() => ({ _tag: lagChange, cursor }));
    if (lagChange === 'FellBehind')
      report(() => ({ _tag: lagChange, cursor, ...(target > cursor && { lag: target - cursor }) }));
  };
