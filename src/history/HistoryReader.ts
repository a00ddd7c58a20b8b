import { concatMap, EMPTY, expand, find, type Observable } from 'rxjs';
import type { Offset, Timestamp } from '../codecs/scalars.js';
import { isLater } from '../operators/recordTimes.js';
import { type Around, bisect } from './bisect.js';
import { pointsOf, type Read } from './LedgerPosition.js';

/** What a participant shows of its history to the requests of one selection. */
export interface HistoryReader {
  /** Emits the participant's ID; `undefined` if it does not report it. */
  readonly participantId$: Observable<string | undefined>;
  /** Emits the ledger end; `undefined` if it is not served. */
  readonly ledgerEnd$: Observable<Offset | undefined>;
  /** Reads what the selection has in a range, in order, perhaps not to its end. Nothing means that there is nothing. */
  readonly read: (beginExclusive: Offset, endInclusive: Offset, limit: number) => Observable<readonly Read[]>;
  /** Looks up an update by its ID. Emits `undefined` if it is not there, not visible or pruned, or if that is not served. */
  readonly offsetOf: (updateId: string) => Observable<Offset | undefined>;
  /** Whether ranges have an end, so that the history can be searched. */
  readonly isSearchable: boolean;
  /** What the last search of a synchronizer has found up to a ledger end, so that it is not searched again before that grows. */
  readonly searched: Map<string, Around<Read> & { readonly end: Offset }>;
}

/**
 * Finds the updates of a synchronizer around a record time, by bisecting a range: record times ascend within a synchronizer,
 * and only there.
 */
export const searchAround = (
  reader: HistoryReader,
  synchronizerId: string,
  recordTime: Timestamp,
  range: { readonly beginExclusive: Offset; readonly endInclusive: Offset },
): Observable<Around<Read>> =>
  bisect(
    range,
    (read) => isLater(timeIn(read, synchronizerId), recordTime),
    (begin, end) => firstOf(reader, synchronizerId, begin, end),
  );

/** The size of the pages in which an update of a synchronizer is looked for. */
const pageSize = 50;

/** Emits the first update of a synchronizer in a range; `undefined` if there is none. */
const firstOf = (
  reader: HistoryReader,
  synchronizerId: string,
  beginExclusive: Offset,
  endInclusive: Offset,
): Observable<Read | undefined> =>
  reader.read(beginExclusive, endInclusive, pageSize).pipe(
    expand((page) => {
      const last = page.at(-1)?.offset ?? endInclusive;
      return last < endInclusive && !page.some(isOf(synchronizerId))
        ? reader.read(last, endInclusive, pageSize)
        : EMPTY;
    }),
    concatMap((page) => page),
    find(isOf(synchronizerId)),
  );

const isOf =
  (synchronizerId: string) =>
  (read: Read): boolean =>
    read._tag !== 'OffsetCheckpoint' && pointsOf(read).some((point) => point.synchronizerId === synchronizerId);

/** The record time of an update of a synchronizer. */
export const timeIn = (read: Read, synchronizerId: string): Timestamp =>
  pointsOf(read).find((point) => point.synchronizerId === synchronizerId)?.recordTime ?? '';
