import { catchError, concatMap, EMPTY, expand, map, type Observable, of, toArray } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import { isLedgerError, isTransient } from '../errors/LedgerError.js';
import { advance, bareOffset, type LedgerPosition } from '../history/LedgerPosition.js';
import { retryTransient } from '../http/retry.js';
import { historyOf } from './historyOf.js';
import type { AnyFeed } from './LedgerFeed.js';
import type { FeedElement, Page, Range } from './Page.js';
import { isEndBeforeCursor, requestPage, resetIfBeyondEnd } from './pageRequest.js';
import { reportWithout } from './Service.js';

/** In how many updates before an offset the last one of each synchronizer is looked for. */
const maxLastUpdates = 50;

/** How many pages are read up to an offset where a participant cannot read downward. */
const maxPagesUp = 10;

/** The offset of a snapshot, and an offset before the last update that is known to be in it. */
interface SnapshotOffset extends Pick<LedgerPosition, 'offset' | 'participantId'> {
  readonly begin: Offset;
}

/**
 * Emits the position at an offset of a ledger of which nothing was read so far: with the last updates of the request, as far as
 * the participant can show them. Fails with a `LedgerResetError` if the ledger ends before the offset.
 */
export const positionAt = (
  feed: AnyFeed,
  { offset, participantId, begin }: SnapshotOffset,
): Observable<LedgerPosition> => {
  const none: LedgerPosition = { ...bareOffset(offset), participantId, lastUpdate: undefined };
  const report = reportWithout(feed.report, 'PollSent', 'PageReceived');
  const readPage = (range: Range, limit: number): Observable<Page<FeedElement>> => {
    const request = { ...feed.request, ...range } as AnyFeed['request'];
    const page$ = requestPage({ ...feed, request, report, onUndecodable: 'emit' }, range, { limit, isProof: true });
    return page$.pipe(resetIfBeyondEnd(offset));
  };
  const limit = Math.min(maxLastUpdates, Math.max(2, feed.maxPageSize));
  const down = (beginExclusive: Offset): Observable<LedgerPosition> =>
    readPage({ beginExclusive, endInclusive: offset, descendingOrder: true }, limit).pipe(
      concatMap(({ updates, failure }) =>
        failure === undefined ? of({ ...advance(none, [...updates].reverse()), offset }) : up(),
      ),
    );
  // a participant before 3.5 ignores the order
  const up = (): Observable<LedgerPosition> => {
    const next = (beginExclusive: Offset) =>
      readPage({ beginExclusive, endInclusive: offset }, feed.maxPageSize).pipe(
        map((page) => ({ page, isLast: page.count === 0 || page.last >= offset || page.failure !== undefined })),
      );
    return next(begin).pipe(
      expand(({ page, isLast }, index) => (isLast || index === maxPagesUp ? EMPTY : next(page.last))),
      toArray(),
      map((pages) =>
        pages.at(-1)?.isLast === true && pages.every(({ page }) => page.failure === undefined)
          ? {
              ...advance(
                none,
                pages.flatMap(({ page }) => page.updates),
              ),
              offset,
            }
          : none,
      ),
    );
  };
  if (offset === 0) return of(none);
  return down(0).pipe(
    catchError((error: unknown) => {
      const earliest = isLedgerError(error, 'PrunedError') ? error.earliestOffset : undefined;
      if (earliest === undefined || earliest >= offset) throw error;
      return down(earliest);
    }),
    retryTransient(feed, (error) => !isEndBeforeCursor(error)),
    catchError((error: unknown) => {
      // pruned, or an order that the participant refuses, or two updates are too large for a page
      const isUnreadable = isLedgerError(error, 'PrunedError', 'PageLimitError');
      if (isUnreadable || (isLedgerError(error, 'ApiError') && !isTransient(error))) return of(none);
      throw error;
    }),
  );
};

/** Emits whether the ledger has the update of a contract at its offset; `undefined` if it is pruned, or if there is no contract. */
export const hasContract = (
  feed: AnyFeed,
  contract: { readonly offset: Offset; readonly contractId: string } | undefined,
): Observable<boolean | undefined> =>
  contract === undefined
    ? of(undefined)
    : historyOf(feed)
        .read(contract.offset - 1, contract.offset, 1)
        .pipe(
          map((read) =>
            read.some(({ _tag }) => _tag === 'UndecodedUpdate') ? undefined : read.some(concerns(contract.contractId)),
          ),
          retryTransient(feed, (error) => !isEndBeforeCursor(error)),
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
      const created: object = 'createdEvent' in event ? (event.createdEvent as object) : event;
      return 'contractId' in created && created.contractId === contractId;
    });
