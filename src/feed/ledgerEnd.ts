import { catchError, map, type Observable, type ObservableInput } from 'rxjs';
import { LedgerEnd } from '../codecs/OffsetCheckpoint.js';
import type { Offset } from '../codecs/scalars.js';
import { LedgerResetError } from '../errors/feed.js';
import { isUnavailable } from '../history/participant.js';
import { monotonicNow } from '../http/clock.js';
import { decodeWith, exchange } from '../http/exchange.js';
import type { Link } from '../http/Link.js';
import type { AnyFeed, Position, Step } from './LedgerFeed.js';
import type { FeedElement } from './Page.js';
import { noteOutage, retryRequest } from './pageRequest.js';

const path = '/v2/state/ledger-end';

/** Requests the ledger end once. */
export const ledgerEnd = (link: Link): Observable<Offset> =>
  exchange(link, { method: 'GET', path }, decodeWith(path, LedgerEnd)).pipe(map(({ offset }) => offset));

/** Sets the target of a feed to the ledger end. Retries after a transient failure. */
export const readLedgerEnd = (feed: AnyFeed, position: Position): Observable<Step<never>> =>
  readLedgerEndOnce(feed, position).pipe(retryRequest(feed));

/**
 * Sets the target of a feed to the ledger end. If the participant does not serve it, the feed does not request it for a
 * while.
 */
export const readLedgerEndOnce = (feed: AnyFeed, position: Position): Observable<Step<never>> => {
  const { request, service, history } = feed;
  return ledgerEnd(service.link).pipe(
    map((end): Step<never> => {
      if (end < position.cursor) throw new LedgerResetError(position.cursor, end);
      service.learned.ledgerEndAnswered();
      const target = Math.min(end, request.endInclusive ?? end);
      const next = target > position.cursor ? 'page' : waitOrEnd(feed, position.cursor);
      const ledgerEndReadAt = monotonicNow();
      return { position: { ...position, target, ledgerEndReadAt, next, parallelRanges: 1, fastestMs: Infinity } };
    }),
    noteOutage(feed),
    catchError((error: unknown): ObservableInput<Step<never>> => {
      if (!isUnavailable(error)) throw error;
      service.learned.ledgerEndUnavailable();
      // it was served before: a gateway may respond so during an outage
      if (position.ledgerEndReadAt > 0) history.interrupted();
      const target = request.endInclusive ?? position.target;
      const next = catchUpOrPoll(feed);
      return [{ position: { ...position, ...unknownDensity, target, ledgerEndReadAt: 0, next } }];
    }),
  );
};

/**
 * While the density is unknown, one page spans everything up to the target. It shows whether the ledger has reached a
 * target that is not the ledger end; the participant would refuse all ranges after its ledger end.
 */
export const unknownDensity = { recentElements: 0, recentOffsets: 0 } as const;

/** Returns the next request when there may be updates to catch up on. */
export function catchUpOrPoll({ service, request }: AnyFeed): Position['next'] {
  if (service.learned.hasLedgerEnd) return 'ledgerEnd';
  // if the ledger end is unavailable, pages need the end of the request
  return typeof request.endInclusive === 'number' ? 'page' : 'poll';
}

/** Returns the next request when the feed has read everything up to the ledger end. */
export function waitOrEnd({ request }: AnyFeed, cursor: Offset): Position['next'] {
  return typeof request.endInclusive === 'number' && cursor >= request.endInclusive ? 'end' : 'poll';
}

/** Whether the feed has caught up after a step. */
export const isCaughtUp = (feed: AnyFeed, before: Position, step: Step<FeedElement>): boolean =>
  isAtEnd(feed, before, step) || (before.hasCaughtUp && !lagsByPage(feed, before, step));

/** Whether the feed has read everything up to the ledger end. */
function isAtEnd({ service }: AnyFeed, before: Position, { position, page }: Step<FeedElement>): boolean {
  if (position.next !== 'poll') return false;
  // if the ledger end is unavailable: polls are full as long as there is more
  return before.next === 'poll' ? page?.isFull === false : service.learned.hasLedgerEnd;
}

/** Whether there is more than a page after the cursor. */
function lagsByPage(
  { service, maxPageSize }: AnyFeed,
  before: Position,
  { position, page }: Step<FeedElement>,
): boolean {
  // pages of parallel ranges are rarely full
  if (before.next === 'page')
    return position.next === 'page' && (page?.isFull === true || position.prefetched.length > 0);
  return (
    page?.isFull === true && before.next === 'poll' && before.pollLimit >= maxPageSize && !service.learned.hasLedgerEnd
  );
}

/** Reports that a feed has caught up or fallen behind. */
export function reportLagChange(
  { report }: AnyFeed,
  { cursor, target }: Position,
  change: 'CaughtUp' | 'FellBehind',
): void {
  const lag = change === 'FellBehind' && target > cursor ? { lag: target - cursor } : {};
  report(() => ({ _tag: change, cursor, ...lag }));
}
