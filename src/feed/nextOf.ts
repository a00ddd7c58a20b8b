import { asyncScheduler } from 'rxjs';
import type { Offset } from '../codecs/Offset.js';
import type { Feed } from './Feed.js';
import type { Place } from './Place.js';

/** How long a service that does not tell its ledger end is not asked for it: the path may only be gone for a moment. */
const askAgainMs = 60_000;

/** Whether the service tells its ledger end, as far as is known; one that did not is asked again, also where the clock is set. */
export const tellsEnd = ({ service }: Feed): boolean =>
  Math.abs(asyncScheduler.now() - service.learned.endUntoldAt) >= askAgainMs;

/** What to ask for when there may be something to catch up on. */
export function catchingUp(feed: Feed): Place['next'] {
  if (tellsEnd(feed)) return 'ledgerEnd';
  // without the ledger end, only a range that the caller bounds can be read in pages
  return typeof feed.request.endInclusive === 'number' ? 'page' : 'poll';
}

/** What to ask for when everything there is has been read. */
export function waiting({ request }: Feed, cursor: Offset): Place['next'] {
  return typeof request.endInclusive === 'number' && cursor >= request.endInclusive ? 'nothing' : 'poll';
}

/**
 * Of a target that nobody has told: the first page goes all the way, and finds out whether the ledger does. Ranges ahead
 * of an end that is not reached would all be refused, time and again.
 */
export const nothingKnown = { found: 0, searched: 0 } as const;
