import { asyncScheduler, type Observable } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { UpdatesRange } from '../codecs/UpdatesRequest.js';
import type { Feed } from './Feed.js';
import type { Page } from './Page.js';

/** Where a feed stands between two requests. */
export interface Position {
  /** Everything up to here has been emitted, or does not match the request; down to here, in descending order. */
  readonly cursor: Offset;
  /** Where a feed that goes downward ends. */
  readonly floor: Offset;
  /** What to ask for next; while it listens, what comes next comes by itself. */
  readonly next: 'ledgerEnd' | 'page' | 'pageDown' | 'poll' | 'listening' | 'nothing';
  /** How far pages go: as far as the ledger is known to have come, or as the request asks. */
  readonly target: Offset;
  /** What lies ahead of the cursor and is being read already, in order. */
  readonly ahead: readonly Reading[];
  /** How many elements the last pages had: the older they are, the less they count. */
  readonly found: number;
  /** Over how many offsets those pages reached, counted in the same way. */
  readonly searched: number;
  /** How many ranges to read at a time. */
  readonly atATime: number;
  /** How long a page takes at best, in milliseconds, as far as those since the ledger end was read tell. */
  readonly fastestMs: number;
  /** Whether all that there was has been emitted, and less than a page has come since. */
  readonly hasCaughtUp: boolean;
  /** When the ledger end was read last, in milliseconds. */
  readonly endReadAt: number;
  /** How many elements the next poll asks for. */
  readonly pollLimit: number;
  /** When the last poll was sent, in milliseconds. */
  readonly polledAt: number;
  /** How many polls in a row have waited for an update in vain. */
  readonly fruitless: number;
}

/** What one request has come to: perhaps a page, and the place after it. */
export interface Step {
  readonly place: Position;
  readonly page?: Page;
  /** What it has come to: nothing left to do but to wait, or more than a page again. */
  readonly turn?: 'CaughtUp' | 'FellBehind';
}

/** A range that is being read, or has been: whoever subscribes gets the same answer. After a failure it is asked for anew. */
export interface Reading {
  readonly beginExclusive: Offset;
  readonly endInclusive: Offset;
  readonly answer$: Observable<Answered>;
  /** Reads it ahead of its turn: once, whatever comes of it, and only as long as somebody subscribes. */
  readonly ahead$: Observable<never>;
}

/** What the service has answered. */
export interface Answered {
  readonly page: Page;
  /** There is nothing more up to here. */
  readonly reached: Offset;
  /** How many requests that took, one after the other. */
  readonly requests: number;
}

/** The place before the first request of a range. */
export function startPosition({ beginExclusive, endInclusive, descendingOrder }: UpdatesRange): Position {
  const target = endInclusive ?? beginExclusive;
  const first = descendingOrder === true ? 'pageDown' : 'ledgerEnd';
  return {
    floor: beginExclusive,
    cursor: descendingOrder === true ? target + 1 : beginExclusive,
    next: beginExclusive >= (endInclusive ?? Infinity) ? 'nothing' : first,
    target,
    ahead: [],
    found: 0,
    searched: 0,
    atATime: 1,
    fastestMs: Infinity,
    hasCaughtUp: false,
    endReadAt: 0,
    pollLimit: 1,
    polledAt: 0,
    fruitless: 0,
  };
}

/** How long a service that does not tell its ledger end is not asked for it: the path may only be gone for a moment. */
const askAgainMs = 60_000;

/** Whether the service tells its ledger end, as far as is known; one that did not is asked again, also where the clock is set. */
export const tellsEnd = ({ service }: Feed): boolean =>
  Math.abs(asyncScheduler.now() - service.learned.endUntoldAt) >= askAgainMs;

/** What to ask for when there may be something to catch up on. */
export function catchUpOrPoll(feed: Feed): Position['next'] {
  if (tellsEnd(feed)) return 'ledgerEnd';
  // without the ledger end, only a range that the caller bounds can be read in pages
  return typeof feed.request.endInclusive === 'number' ? 'page' : 'poll';
}

/** What to ask for when everything there is has been read. */
export function waitOrEnd({ request }: Feed, cursor: Offset): Position['next'] {
  return typeof request.endInclusive === 'number' && cursor >= request.endInclusive ? 'nothing' : 'poll';
}

/**
 * Of a target that nobody has told: the first page goes all the way, and finds out whether the ledger does. Ranges ahead
 * of an end that is not reached would all be refused, time and again.
 */
export const nothingKnown = { found: 0, searched: 0 } as const;

/** A step, and whether the feed has caught up by it. */
export function withCaughtUp(feed: Feed, before: Position, step: Step): Step {
  const hasCaughtUp = isAtEnd(feed, before, step) || (before.hasCaughtUp && !isPageBehind(feed, before, step));
  const turn = hasCaughtUp ? 'CaughtUp' : 'FellBehind';
  return {
    ...step,
    place: { ...step.place, hasCaughtUp },
    ...(hasCaughtUp !== before.hasCaughtUp && { turn }),
  };
}

/** There is nothing left to do but to wait. */
function isAtEnd(feed: Feed, before: Position, { place, page }: Step): boolean {
  if (place.next !== 'poll') return false;
  // a poll of a service that does not tell its end is full as long as there is more
  return before.next === 'poll' ? page?.isFull === false : tellsEnd(feed);
}

/** There is more before it than a page. */
function isPageBehind(feed: Feed, before: Position, { place, page }: Step): boolean {
  // where ranges are read ahead, pages are not quite full
  if (before.next === 'page') return place.next === 'page' && (page?.isFull === true || place.ahead.length > 0);
  return page?.isFull === true && before.next === 'poll' && before.pollLimit >= feed.maxPageSize && !tellsEnd(feed);
}

/** Tells when a feed has caught up or fallen behind; to be called when what has led there is emitted. */
export const reportCaughtUp =
  ({ report }: Feed) =>
  ({ place: { cursor, target }, turn }: Step): void => {
    if (turn === 'CaughtUp') report(() => ({ _tag: turn, cursor }));
    if (turn === 'FellBehind') report(() => ({ _tag: turn, cursor, ...(target > cursor && { lag: target - cursor }) }));
  };
