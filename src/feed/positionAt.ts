import { catchError, EMPTY, expand, map, type Observable, of, toArray } from 'rxjs';
import type { CreatedEvent } from '../codecs/Event.js';
import type { Offset } from '../codecs/scalars.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { isTransient } from '../errors/verdict.js';
import type { LedgerPosition } from '../codecs/LedgerPosition.js';
import { advance } from '../history/positions.js';
import { lastOffset } from '../history/HistoryReader.js';
import { historyOf } from './historyOf.js';
import type { AnyFeed } from './LedgerFeed.js';
import { isEndBeforeCursor, retryRequest } from './pageRequest.js';

/** In how many updates before an offset the last one of each synchronizer is looked for, by default. */
const maxLastUpdates = 50;

/** How many pages are read up to an offset where a participant cannot read downward. */
const maxPagesUp = 10;

/** The offset of a snapshot, and an offset before the last update that is known to be in it. */
interface SnapshotOffset extends Pick<LedgerPosition, 'offset' | 'participantId'> {
  readonly begin: Offset;
  /** How far each synchronizer has been read, if that is known. */
  readonly recordTimes?: LedgerPosition['recordTimes'];
  /** In how many updates before the offset the last one of each synchronizer is looked for. */
  readonly maxUpdates?: number;
}

/**
 * Emits the position at an offset of which the request of a feed has read nothing so far: with its last updates, as far as the
 * participant can show them. Fails with a `LedgerResetError` if the ledger ends before the offset.
 */
export const positionAt = (
  feed: AnyFeed,
  { offset, participantId, begin, recordTimes = {}, maxUpdates = maxLastUpdates }: SnapshotOffset,
): Observable<LedgerPosition> => {
  const none: LedgerPosition = { offset, recordTimes, participantId, lastUpdate: undefined };
  const { read } = historyOf(feed);
  const limit = Math.min(maxUpdates, Math.max(2, feed.maxPageSize));
  const down = (beginExclusive: Offset): Observable<LedgerPosition> =>
    read({ beginExclusive, endInclusive: offset, descendingOrder: true }, limit).pipe(
      map((updates) => ({ ...advance(none, [...updates].reverse()), offset })),
      catchError((error: unknown) => {
        if (isUnordered(error)) return up(beginExclusive);
        throw error;
      }),
    );
  // a participant before 3.5 ignores the order: the newest contract shows one synchronizer, what is before it may show others
  const up = (floor: Offset): Observable<LedgerPosition> => {
    const pageAfter = (beginExclusive: Offset) => read({ beginExclusive, endInclusive: offset }, feed.maxPageSize);
    return pageAfter(Math.max(floor, Math.min(begin, offset - limit))).pipe(
      expand((page, index) =>
        lastOffset(page) >= offset || index === maxPagesUp ? EMPTY : pageAfter(lastOffset(page)),
      ),
      toArray(),
      map((pages) => (lastOffset(pages.at(-1) ?? []) >= offset ? { ...advance(none, pages.flat()), offset } : none)),
    );
  };
  if (offset === 0) return of(none);
  return down(0).pipe(
    catchError((error: unknown) => {
      const earliest = isLedgerError(error, 'PrunedError') ? error.earliestOffset : undefined;
      if (earliest === undefined || earliest >= offset) throw error;
      return down(earliest);
    }),
    retryRequest(feed),
    catchError((error: unknown) => {
      // pruned, or an order that the participant refuses, or two updates are too large for a page
      const isUnreadable = isUnordered(error) || isLedgerError(error, 'PrunedError', 'PageLimitError');
      if (isUnreadable || (isLedgerError(error, 'ApiError') && !isTransient(error))) return of(none);
      throw error;
    }),
  );
};

/** Whether a page could not be used: its order is not the one that was requested, or it has what no cursor can pass. */
const isUnordered = (error: unknown): boolean => isLedgerError(error, 'OrderError', 'DecodeError');

/** Emits whether the ledger has the update of a contract at its offset; `undefined` if it is pruned, or if there is no contract. */
export const hasContract = (
  feed: AnyFeed,
  contract: { readonly offset: Offset; readonly contractId: string } | undefined,
): Observable<boolean | undefined> =>
  contract === undefined
    ? of(undefined)
    : historyOf(feed)
        .read({ beginExclusive: contract.offset - 1, endInclusive: contract.offset }, 1)
        .pipe(
          map((read) =>
            read.some(({ _tag }) => _tag === 'UndecodedUpdate') ? undefined : read.some(concerns(contract.contractId)),
          ),
          retryRequest(feed),
          catchError((error: unknown) => {
            if (isLedgerError(error, 'PrunedError')) return of(undefined);
            if (isEndBeforeCursor(error)) return of(false);
            throw error;
          }),
        );

/** Whether an update creates or assigns a contract. */
const concerns =
  (contractId: string) =>
  (update: object): boolean =>
    'events' in update &&
    Array.isArray(update.events) &&
    update.events.some((event: object) => {
      const created: Partial<CreatedEvent> = 'createdEvent' in event ? (event.createdEvent as CreatedEvent) : event;
      return created._tag === 'CreatedEvent' && created.contractId === contractId;
    });
