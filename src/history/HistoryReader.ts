import { EMPTY, expand, filter, map, type Observable, take } from 'rxjs';
import type { Offset, Timestamp } from '../codecs/scalars.js';
import { type Around, bisect, searchPageSize } from './bisect.js';
import { pointsOf, type Read } from './positions.js';

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
