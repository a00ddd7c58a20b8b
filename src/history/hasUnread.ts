import { catchError, map, type Observable, of } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { isTransient } from '../errors/verdict.js';
import { isLater } from '../operators/recordTimes.js';
import type { HistoryReader } from './HistoryReader.js';
import type { LedgerPosition } from '../codecs/LedgerPosition.js';
import { idOf, pointsOf, type Read } from './positions.js';

/** How many updates are read downward, in search of the last ones of each synchronizer. */
const maxUpdates = 50;

/**
 * Emits whether something up to an offset was never read, although it is before the last update: a participant that was restored
 * may have read the synchronizers again in another order, and this update may be back at its offset by chance.
 *
 * Downward, the first update of a synchronizer is the last one of it that was read. A later one was not read.
 */
export const hasUnread = (
  reader: HistoryReader,
  { recordTimes }: LedgerPosition,
  endInclusive: Offset,
): Observable<boolean> => {
  const { completeAfter, isSearchable } = reader;
  // where only checkpoints are known, the request may have been another one
  const known = Object.values(recordTimes).filter(({ updateId }) => updateId !== undefined);
  if (!isSearchable || known.length < 2 || completeAfter >= endInclusive) return of(false);
  const down = (beginExclusive: Offset): Observable<boolean> =>
    reader
      .read({ beginExclusive, endInclusive, descendingOrder: true }, maxUpdates)
      .pipe(map((page) => isLaterThan(recordTimes, page, endInclusive)));
  return down(completeAfter).pipe(
    catchError((error: unknown) => {
      const earliest = isLedgerError(error, 'PrunedError') ? error.earliestOffset : undefined;
      if (earliest === undefined || earliest >= endInclusive) throw error;
      return down(Math.max(completeAfter, earliest));
    }),
    catchError((error: unknown) => {
      if (isUnreadable(error)) return of(false);
      throw error;
    }),
  );
};

/** Whether the first update of a synchronizer on a page is later than the last one that was read. */
function isLaterThan(recordTimes: LedgerPosition['recordTimes'], page: readonly Read[], lastOffset: Offset): boolean {
  const met = new Set<string>();
  for (const read of page) {
    // without an ID, it does not advance the position either
    if (idOf(read) === undefined) continue;
    for (const { synchronizerId, recordTime } of pointsOf(read)) {
      const last = recordTimes[synchronizerId];
      const isFirst = !met.has(synchronizerId);
      met.add(synchronizerId);
      // the last update itself was read, or a person has skipped it
      if (!isFirst || read.offset === lastOffset) continue;
      if (last?.updateId !== undefined && isLater(recordTime, last.recordTime)) return true;
    }
  }
  return false;
}

/** Whether a page proves nothing: a participant before 3.5 ignores the order, and another one may refuse it. */
const isUnreadable = (error: unknown): boolean =>
  isLedgerError(error, 'OrderError', 'DecodeError', 'PrunedError', 'PageLimitError') ||
  (isLedgerError(error, 'ApiError') && !isTransient(error));
