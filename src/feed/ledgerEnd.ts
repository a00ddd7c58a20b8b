import { asyncScheduler, catchError, map, type Observable, type ObservableInput } from 'rxjs';
import { LedgerEnd } from '../codecs/OffsetCheckpoint.js';
import type { Offset } from '../codecs/scalars.js';
import { type ApiError, isApiError } from '../errors/ApiError.js';
import { LedgerResetError } from '../errors/feed.js';
import { verdict } from '../errors/verdict.js';
import { decodeWith, exchange } from '../http/exchange.js';
import type { Link } from '../http/Link.js';
import { retryTransient } from '../http/retry.js';
import type { LedgerFeed } from './LedgerFeed.js';
import { catchUpOrPoll, type Position, type Step, unknownDensity, waitOrEnd } from './Position.js';

const path = '/v2/state/ledger-end';

/** Requests the ledger end once. */
export const ledgerEnd = (link: Link): Observable<Offset> =>
  exchange(link, { method: 'GET', path }, decodeWith(path, LedgerEnd)).pipe(map(({ offset }) => offset));

/** Sets the target of a feed to the ledger end. Retries after a transient failure. */
export const readLedgerEnd = (feed: LedgerFeed, position: Position): Observable<Step> =>
  readLedgerEndOnce(feed, position).pipe(retryTransient(feed));

/**
 * Sets the target of a feed to the ledger end. If the participant does not serve it, the feed does not request it for a
 * while.
 */
export const readLedgerEndOnce = (feed: LedgerFeed, position: Position): Observable<Step> => {
  const { request, service } = feed;
  return ledgerEnd(service.link).pipe(
    map((end): Step => {
      if (end < position.cursor) throw new LedgerResetError(position.cursor, end);
      service.ledgerEndAnswered();
      const target = Math.min(end, request.endInclusive ?? end);
      const next = target > position.cursor ? 'page' : waitOrEnd(feed, position.cursor);
      const ledgerEndReadAt = asyncScheduler.now();
      return { position: { ...position, target, ledgerEndReadAt, next, parallelRanges: 1, fastestMs: Infinity } };
    }),
    catchError((error: unknown): ObservableInput<Step> => {
      if (!isApiError(error) || !isUnavailable(error)) throw error;
      service.ledgerEndUnavailable();
      const target = request.endInclusive ?? position.target;
      return [{ position: { ...position, ...unknownDensity, target, next: catchUpOrPoll(feed) } }];
    }),
  );
};

/** Whether the participant does not serve the path, or a gateway blocks it. */
export const isUnavailable = (error: ApiError): boolean =>
  verdict(error) === 'switch' || (error.status === 403 && error.code === undefined);
