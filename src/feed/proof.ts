import { OrderError } from '../errors/feed.js';
import { idOf, type LastUpdate } from '../history/LedgerPosition.js';
import type { AnyFeed } from './LedgerFeed.js';
import type { DecodedPage, FeedElement, Range } from './Page.js';

/**
 * How far the last update may be before the cursor to be a proof. Beyond that, a participant might need too long to search the
 * offsets between them with each request.
 */
const maxProofReach = 100_000;

/** Returns the update with which requests after the cursor begin, to prove that the ledger is the same. */
export function proofNear({ source, history, service }: AnyFeed): LastUpdate | undefined {
  const { proof, cursor } = history;
  if (proof === undefined || source.lookUp === undefined) return undefined;
  const reach = cursor - proof.offset;
  return reach >= 0 && reach < Math.min(maxProofReach, service.learned.maxRange) ? proof : undefined;
}

/**
 * Checks that a page begins with the last update, and leaves that out. A page without it is of another ledger, or of another
 * participant; nothing of it is used.
 */
export function checkProof<A extends FeedElement>(
  page: DecodedPage<A>,
  proof: LastUpdate | undefined,
  { beginExclusive, endInclusive }: Range,
): DecodedPage<A> {
  // of a page that is out of order, nothing is known
  if (proof === undefined || page.failure?._tag === 'OrderError') return page;
  const [first, ...updates] = page.updates;
  const isProven = first?.offset === proof.offset && idOf(first) === proof.updateId;
  const { failure } = page;
  // the participant may have been upgraded, and send the update in a form that does not decode
  const isUnreadable = failure?._tag === 'DecodeError' && failure.updateId === proof.updateId;
  if (!isProven) {
    const { last, count, isFull } = page;
    return { updates: [], last, count, isFull, proves: isUnreadable ? 'unreadable' : 'no' };
  }
  const hasMore = updates.some(({ _tag }) => _tag !== 'OffsetCheckpoint');
  // a page without news does not move the cursor back
  const last = hasMore ? page.last : Math.max(page.last, beginExclusive);
  const count = page.count - 1;
  // a page that the last update fills shows nothing of what comes after it
  const hasNone = updates.length === 0 && (count > 0 || page.isFull);
  if (failure === undefined && endInclusive !== undefined && hasNone)
    return { ...page, updates, failure: new OrderError(page.last, beginExclusive) };
  return { ...page, updates, count, last: count === 0 ? beginExclusive : last, proves: 'yes' };
}
