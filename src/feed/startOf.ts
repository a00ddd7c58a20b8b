import type { UpdatesRange } from '../codecs/UpdatesRequest.js';
import type { Place } from './Place.js';

/** The place before the first request of a range. */
export function startOf({ beginExclusive, endInclusive, descendingOrder }: UpdatesRange): Place {
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
