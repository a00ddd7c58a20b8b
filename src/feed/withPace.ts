import type { Feed } from './Feed.js';
import { tellsEnd } from './nextOf.js';
import type { Place, Step } from './Place.js';

/** A step, and whether the feed has caught up by it. */
export function withPace(feed: Feed, before: Place, step: Step): Step {
  const hasCaughtUp = isAtEnd(feed, before, step) || (before.hasCaughtUp && !isPageBehind(feed, before, step));
  const turn = hasCaughtUp ? 'CaughtUp' : 'FellBehind';
  return {
    ...step,
    place: { ...step.place, hasCaughtUp },
    ...(hasCaughtUp !== before.hasCaughtUp && { turn }),
  };
}

/** There is nothing left to do but to wait. */
function isAtEnd(feed: Feed, before: Place, { place, page }: Step): boolean {
  if (place.next !== 'poll') return false;
  // a poll of a service that does not tell its end is full as long as there is more
  return before.next === 'poll' ? page?.isFull === false : tellsEnd(feed);
}

/** There is more before it than a page. */
function isPageBehind(feed: Feed, before: Place, { place, page }: Step): boolean {
  // where ranges are read ahead, pages are not quite full
  if (before.next === 'page') return place.next === 'page' && (page?.isFull === true || place.ahead.length > 0);
  return page?.isFull === true && before.next === 'poll' && before.pollLimit >= feed.maxPageSize && !tellsEnd(feed);
}
