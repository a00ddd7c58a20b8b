import { concatMap, defer, EMPTY, expand, map, type Observable, of, takeLast, tap } from 'rxjs';
import type { Offset, Timestamp } from '../codecs/scalars.js';
import { isLater } from '../operators/recordTimes.js';
import { type HistoryReader, searchAround } from './HistoryReader.js';
import { pointsOf } from './positions.js';

/** What a search reads of a participant. */
export interface SearchedLedger {
  readonly ledgerEnd$: Observable<Offset>;
  /** The synchronizers to which the participant is connected; none if it does not say. */
  readonly synchronizers$: Observable<readonly string[]>;
  readonly read: HistoryReader['read'];
}

/**
 * Finds the last offset before a record time: no update at or before it has that time or a later one. The ledger end if no
 * update has. Errors with a `PrunedError` if the ledger is pruned, and shows no update before the time.
 *
 * Each step halves the range with a request for a page, until one page spans the rest. Record times ascend within one
 * synchronizer only. With several, the search treats them as one at first, and then looks for an earlier offset in each alone.
 *
 * @param time - in UTC
 */
export const offsetAt = (ledger: SearchedLedger, time: Timestamp): Observable<Offset> =>
  defer(() => {
    const seen = new Set<string>();
    const read: SearchedLedger['read'] = (range, limit) =>
      ledger.read(range, limit).pipe(
        tap((updates) => {
          for (const { synchronizerId } of updates.flatMap(pointsOf)) seen.add(synchronizerId);
        }),
      );
    const search = (endInclusive: Offset, synchronizerId?: string): Observable<Offset> =>
      searchAround({ read }, synchronizerId, (recordTime) => !isLater(time, recordTime), {
        beginExclusive: 0,
        endInclusive,
      }).pipe(
        map(({ after, pruned }) => {
          // a synchronizer may have nothing at all
          if (pruned !== undefined && (synchronizerId === undefined || after !== undefined)) throw pruned;
          return after === undefined ? endInclusive : after.offset - 1;
        }),
      );
    /** Searches the next one of several synchronizers: the participant may not be connected to all whose updates it has. */
    const searchNext = (connected: readonly string[], { least, searched }: Least): Observable<Least> => {
      const [next, ...others] = [...new Set([...connected, ...seen])].filter((id) => !searched.has(id));
      if (next === undefined || (others.length === 0 && searched.size === 0)) return EMPTY;
      return search(least, next).pipe(map((offset) => ({ least: offset, searched: new Set([...searched, next]) })));
    };
    return ledger.ledgerEnd$.pipe(
      concatMap((end) => search(end)),
      concatMap((found) =>
        ledger.synchronizers$.pipe(
          concatMap((connected) =>
            of<Least>({ least: found, searched: new Set() }).pipe(expand((least) => searchNext(connected, least))),
          ),
          takeLast(1),
          map(({ least }) => least),
        ),
      ),
    );
  });

/** The least offset of the synchronizers that were searched one by one. */
interface Least {
  readonly least: Offset;
  readonly searched: ReadonlySet<string>;
}

/**
 * Returns a time as the ledger writes it, in UTC and with all digits of its fraction. Throws a TypeError if the time is
 * invalid or has no time zone.
 */
export function toTimestamp(time: string | Date): Timestamp {
  // JavaScript callers may pass anything
  const text = time instanceof Date ? time.toJSON() : time;
  const [, date = '', clock, seconds = ':00', fraction = '', zone] = isoTime.exec(text) ?? [];
  const instant = new Date(`${date}T${clock}${seconds}${zone}`);
  // the platform takes February 30 for March 2
  const isValid = !Number.isNaN(instant.getTime()) && new Date(date).toISOString().startsWith(date);
  if (!isValid)
    throw new TypeError(
      'time must be a Date, or a text with a time zone, such as 2026-11-23T10:00:00.123456Z or 2026-11-23T10:00+01:00',
    );
  return instant.toISOString().replace('.000Z', `${fraction}Z`);
}

const isoTime = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)?(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
