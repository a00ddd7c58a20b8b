import { catchError, concatMap, map, type Observable, type ObservableInput, tap } from 'rxjs';
import { LedgerEnd } from '../codecs/OffsetCheckpoint.js';
import type { Offset } from '../codecs/scalars.js';
import { LedgerResetError } from '../errors/feed.js';
import { isUnavailable } from '../history/participant.js';
import { monotonicNow } from '../http/clock.js';
import { decodeWith, exchange } from '../client/exchange.js';
import type { Client } from '../client/Client.js';
import type { AnyFeed, Phase, Position, Step } from './LedgerFeed.js';
import type { FeedElement } from './Page.js';
import { noteOutage, retryRequest } from './pageRequest.js';

const path = '/v2/state/ledger-end';

/** Requests the ledger end once. */
export const ledgerEnd = (client: Client): Observable<Offset> =>
  exchange(client, { method: 'GET', path }, decodeWith(path, LedgerEnd), ({ offset }) => ({ lastOffset: offset })).pipe(
    map(({ offset }) => offset),
  );

/** Sets the target of a feed to the ledger end. Retries after a transient failure. */
export const readLedgerEnd = (feed: AnyFeed, position: Position): Observable<Step<never>> =>
  readLedgerEndOnce(feed, position).pipe(retryRequest(feed));

/**
 * Sets the target of a feed to the ledger end. If the participant does not serve it, the feed does not request it for a
 * while.
 */
export const readLedgerEndOnce = (feed: AnyFeed, position: Position): Observable<Step<never>> => {
  const { request, client, history } = feed;
  return client.located(path).pipe(
    concatMap((located) =>
      ledgerEnd(located).pipe(
        tap(() => {
          history.answered(located.address);
        }),
      ),
    ),
    map((end): Step<never> => {
      if (end < position.cursor) throw new LedgerResetError(position.cursor, end);
      client.learned.ledgerEndAnswered();
      const target = Math.min(end, request.endInclusive ?? end);
      const phase = target > position.cursor ? catchingUp : followOrEnd(feed, position.cursor);
      const pages = { ...position.pages, parallelRanges: 1, fastestMs: Infinity };
      return { position: { ...position, phase, target, ledgerEndReadAt: monotonicNow(), pages } };
    }),
    noteOutage(feed),
    catchError((error: unknown): ObservableInput<Step<never>> => {
      if (!isUnavailable(error)) throw error;
      client.learned.ledgerEndUnavailable();
      // it was served before: a gateway may respond so during an outage
      if (position.ledgerEndReadAt > 0) history.interrupted();
      const target = request.endInclusive ?? position.target;
      const pages = withoutDensity(position);
      return [{ position: { ...position, phase: catchUpOrFollow(feed), target, ledgerEndReadAt: 0, pages } }];
    }),
  );
};

/**
 * While the density is unknown, one page spans everything up to the target. It shows whether the ledger has reached a
 * target that is not the ledger end; the participant would refuse all ranges after its ledger end.
 */
export const withoutDensity = ({ pages }: Position): Position['pages'] => ({ ...pages, elements: 0, offsets: 0 });

/** Catches up, with no range requested yet. */
export const catchingUp = { _tag: 'CatchUp', prefetched: [] } as const satisfies Phase;

/** Returns the phase of a feed for which there may be updates to catch up on. */
export function catchUpOrFollow({ client, request }: AnyFeed): Phase {
  if (client.learned.hasLedgerEnd) return { _tag: 'ReadLedgerEnd' };
  // if the ledger end is unavailable, pages need the end of the request
  return typeof request.endInclusive === 'number' ? catchingUp : { _tag: 'Follow' };
}

/** Returns the phase of a feed that has read everything up to the ledger end. */
export function followOrEnd({ request }: AnyFeed, cursor: Offset): Phase {
  const isOver = typeof request.endInclusive === 'number' && cursor >= request.endInclusive;
  return { _tag: isOver ? 'End' : 'Follow' };
}

/** Whether the feed has caught up after a step. */
export const isCaughtUp = (feed: AnyFeed, before: Position, step: Step<FeedElement>): boolean =>
  isAtEnd(feed, before, step) || (before.hasCaughtUp && !lagsByPage(feed, before, step));

/** Whether the feed has read everything up to the ledger end. */
function isAtEnd({ client }: AnyFeed, before: Position, { position, page }: Step<FeedElement>): boolean {
  if (position.phase._tag !== 'Follow') return false;
  // if the ledger end is unavailable: polls are full as long as there is more
  return before.phase._tag === 'Follow' ? page?.isFull === false : client.learned.hasLedgerEnd;
}

/** Whether there is more than a page after the cursor. */
function lagsByPage(
  { client, maxPageSize }: AnyFeed,
  before: Position,
  { position, page }: Step<FeedElement>,
): boolean {
  // pages of parallel ranges are rarely full
  const { phase } = position;
  if (before.phase._tag === 'CatchUp')
    return phase._tag === 'CatchUp' && (page?.isFull === true || phase.prefetched.length > 0);
  const isPoll = before.phase._tag === 'Follow' && before.polls.limit >= maxPageSize;
  return page?.isFull === true && isPoll && !client.learned.hasLedgerEnd;
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
