import { EMPTY, expand, filter, map, type Observable, take, catchError, of, takeLast } from 'rxjs';
import type { Offset, Timestamp } from '../codecs/scalars.js';
import { pointsOf, type Read } from './positions.js';
import type { PrunedError } from '../errors/feed.js';
import { isLedgerError } from '../errors/LedgerError.js';

/** A range of a history. */
export interface HistoryRange {
  readonly beginExclusive: Offset;
  readonly endInclusive: Offset;
  readonly descendingOrder?: boolean;
}

/** What a participant shows of its history to the requests of one selection. */
export interface HistoryReader {
  /** Emits the participant's ID; `undefined` if it does not report it. */
  readonly participantId$: Observable<string | undefined>;
  /** Emits the ledger end; `undefined` if it is not served. */
  readonly ledgerEnd$: Observable<Offset | undefined>;
  /** Reads what the selection has in a range, in order, perhaps not to its end. Nothing means that there is nothing. */
  readonly read: (range: HistoryRange, limit: number) => Observable<readonly Read[]>;
  /** Looks up an update by its ID. Emits `undefined` if it is not there, not visible or pruned, or if that is not served. */
  readonly offsetOf: (updateId: string) => Observable<Offset | undefined>;
  /**
   * After which offset everything up to a position was read, if the position was read with this selection. What is unread before
   * it is not to be read.
   */
  readonly completeAfter: Offset;
  /** Whether ranges have an end, so that the history can be searched. */
  readonly isSearchable: boolean;
  /** What the last search of a synchronizer has found up to a ledger end, so that it is not searched again before that grows. */
  readonly searched: Map<string, Around<Read> & { readonly end: Offset }>;
}

/**
 * Finds the updates of a synchronizer around a moment, by bisecting a range: record times ascend within a synchronizer, and only
 * there. Without one, takes all updates as if they were of one.
 *
 * @param isAfter - whether a record time is after the moment
 */
export const searchAround = (
  { read }: Pick<HistoryReader, 'read'>,
  synchronizerId: string | undefined,
  isAfter: (recordTime: Timestamp) => boolean,
  range: HistoryRange,
): Observable<Around<Read>> =>
  bisect(
    range,
    (update) => isAfter(timeIn(update, synchronizerId) ?? ''),
    (beginExclusive, endInclusive) => {
      const pageAfter = (offset: Offset, limit: number) => read({ beginExclusive: offset, endInclusive }, limit);
      const own = (page: readonly Read[]) => page.filter((update) => timeIn(update, synchronizerId) !== undefined);
      return pageAfter(beginExclusive, searchPageSize).pipe(
        expand((page) =>
          own(page).length > 0 || isLast(page, endInclusive) ? EMPTY : pageAfter(lastOffset(page), 4 * searchPageSize),
        ),
        filter((page) => own(page).length > 0 || isLast(page, endInclusive)),
        map(own),
        take(1),
      );
    },
  );

/** The offset of the last update of a page; beyond every range if there is none. */
export const lastOffset = (page: readonly Read[]): Offset => page.at(-1)?.offset ?? Infinity;

/** Whether a page ends its range. */
const isLast = (page: readonly Read[], endInclusive: Offset): boolean => lastOffset(page) >= endInclusive;

/** The record time of an update, if it is one of the synchronizer. */
export const timeIn = (read: Read, synchronizerId: string | undefined): Timestamp | undefined =>
  read._tag === 'OffsetCheckpoint'
    ? undefined
    : pointsOf(read).find((point) => synchronizerId === undefined || point.synchronizerId === synchronizerId)
        ?.recordTime;

/** The updates around a moment, as far as a search has found them. */
export interface Around<A> {
  /** The last one that is not after the moment. */
  readonly before: A | undefined;
  /** The first one after it. */
  readonly after: A | undefined;
  /** Set if the ledger is pruned, and no later update is known to be before the moment: what is pruned may have any time. */
  readonly pruned?: PrunedError | undefined;
}

/** The state of a search: what is at or before `low` is not after the moment, and what is after `high` is. */
interface Search<A> extends Around<A> {
  readonly low: Offset;
  readonly high: Offset;
  /** How many offsets the last page has spanned. It may have had room for more. */
  readonly span: number;
}

/** The size of the pages in which a history is searched. */
const searchPageSize = 50;

/**
 * Finds the updates around a moment, by halving a range whose updates are in the order of time, until one page spans the rest.
 *
 * @param firstIn - emits the first updates of a range, in order; none if there is none
 */
const bisect = <A extends { readonly offset: Offset }>(
  range: { readonly beginExclusive: Offset; readonly endInclusive: Offset },
  isAfter: (update: A) => boolean,
  firstIn: (beginExclusive: Offset, endInclusive: Offset) => Observable<readonly A[]>,
): Observable<Around<A>> => {
  const narrow = (search: Search<A>): Observable<Search<A>> => {
    const { low, high } = search;
    const begin = high - low <= 2 * search.span ? low : Math.floor((low + high) / 2);
    return firstIn(begin, high).pipe(
      map((found): Search<A> => {
        const last = found.at(-1);
        if (last === undefined) return { ...search, high: begin, span: high - begin };
        const span = last.offset - begin;
        const index = found.findIndex(isAfter);
        if (index === 0) return { ...search, high: begin, after: found[0], span };
        if (index === -1) return { ...search, low: last.offset, before: last, pruned: undefined, span };
        return { low: high, high, before: found[index - 1], after: found[index], span };
      }),
      catchError((error: unknown): Observable<Search<A>> => {
        if (!isLedgerError(error, 'PrunedError') || (error.earliestOffset ?? 0) <= begin) throw error;
        return of({ ...search, low: Math.min(error.earliestOffset ?? 0, high), pruned: error });
      }),
    );
  };
  const { beginExclusive: low, endInclusive: high } = range;
  return of<Search<A>>({ low, high, before: undefined, after: undefined, span: searchPageSize / 2 }).pipe(
    expand((search) => (search.low < search.high ? narrow(search) : EMPTY)),
    takeLast(1),
  );
};
