import type { Feed } from './Feed.js';
import type { Place } from './Place.js';

/** The place before the first request. */
export function startOf({ request }: Feed): Place {
  const { beginExclusive, endInclusive, descendingOrder } = request;
  const target = endInclusive ?? beginExclusive;
  const first = descendingOrder === true ? 'pageDown' : 'ledgerEnd';
  return {
    cursor: descendingOrder === true ? target + 1 : beginExclusive,
    next: endInclusive === beginExclusive ? 'nothing' : first,
    target,
    endReadAt: 0,
    pollLimit: 1,
    polledAt: 0,
    fruitless: 0,
  };
}
