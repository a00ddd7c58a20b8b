import {
  catchError,
  concatMap,
  EMPTY,
  expand,
  filter,
  map,
  type Observable,
  of,
  reduce,
  takeLast,
  toArray,
} from 'rxjs';
import type { Offset, Timestamp } from '../codecs/scalars.js';
import { isLater } from '../operators/recordTimes.js';
import { earliestIn } from './bisect.js';
import { type HistoryReader, lastOffset, searchAround, timeIn } from './HistoryReader.js';
import { pointsOf, type Read } from './LedgerPosition.js';

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
 * synchronizer only. With several, the search treats them as one at first. Then it reads back to the last update of each before
 * the result: if that is not before the time, it searches the updates of that synchronizer alone.
 *
 * @param time - in UTC
 */
export const offsetAt = (ledger: SearchedLedger, time: Timestamp): Observable<Offset> =>
  ledger.ledgerEnd$.pipe(
    concatMap((end) => search(ledger, time, end)),
    concatMap((found) =>
      ledger.synchronizers$.pipe(
        concatMap((all) => (all.length > 1 ? lastOfEach(ledger, all, found) : [])),
        concatMap((updates) => [...updates].filter(([id, update]) => !isLater(time, timeIn(update, id) ?? time))),
        concatMap(([synchronizer, { offset }]) => search(ledger, time, offset, synchronizer)),
        reduce((least, offset) => Math.min(least, offset), found),
      ),
    ),
  );

/**
 * Returns a time as the ledger writes it, in UTC and with all digits of its fraction. Throws a TypeError if the time is
 * invalid or has no time zone.
 */
export function toTimestamp(time: string | Date): Timestamp {
  const text = typeof time === 'string' ? time : time.toJSON();
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

/** Finds the last offset before a time among the updates of a synchronizer; without one, of all as if they were of one. */
const search = (ledger: SearchedLedger, time: Timestamp, end: Offset, synchronizer?: string): Observable<Offset> =>
  searchAround(ledger, synchronizer, (recordTime) => !isLater(time, recordTime), {
    beginExclusive: 0,
    endInclusive: end,
  }).pipe(
    map(({ after, pruned }) => {
      if (pruned !== undefined) throw pruned;
      return after === undefined ? end : after.offset - 1;
    }),
  );

/** The size of the pages that are read back. */
const pageSize = 200;

/** The last update of each synchronizer that has one. */
type LastUpdates = ReadonlyMap<string, Read>;

/** The updates of a range that was read backwards from its end. */
interface ReadBack {
  readonly begin: Offset;
  readonly updates: LastUpdates;
}

/** How many offsets are read back first. Each further range is four times as long. */
const firstSpan = 50;

/** Emits the last updates of synchronizers up to an offset. Reads back until all of them have one, or to the beginning. */
const lastOfEach = (ledger: SearchedLedger, all: readonly string[], end: Offset): Observable<LastUpdates> => {
  const readBack = ({ begin: to, updates }: ReadBack, span: number): Observable<ReadBack> => {
    const begin = Math.max(0, to - span);
    const read = (from: Offset): Observable<LastUpdates> => lastIn(ledger, from, to);
    return read(begin).pipe(
      map((earlier) => ({ begin, updates: new Map([...earlier, ...updates]) })),
      catchError((error: unknown) => {
        const earliest = earliestIn(error);
        if (earliest === undefined) throw error;
        const rest$ = earliest < to ? read(earliest) : of(new Map<string, Read>());
        return rest$.pipe(map((earlier) => ({ begin: 0, updates: new Map([...earlier, ...updates]) })));
      }),
    );
  };
  return of<ReadBack>({ begin: end, updates: new Map() }).pipe(
    expand((back, index) =>
      back.begin === 0 || all.every((id) => back.updates.has(id)) ? EMPTY : readBack(back, firstSpan * 4 ** index),
    ),
    takeLast(1),
    map(({ updates }) => updates),
  );
};

/** Emits the last updates of synchronizers in a range. */
const lastIn = ({ read }: SearchedLedger, beginExclusive: Offset, endInclusive: Offset): Observable<LastUpdates> => {
  const pageAfter = (offset: Offset) => read({ beginExclusive: offset, endInclusive }, pageSize);
  return pageAfter(beginExclusive).pipe(
    expand((page) => (lastOffset(page) >= endInclusive ? EMPTY : pageAfter(lastOffset(page)))),
    concatMap((page) => page),
    filter(({ _tag }) => _tag !== 'OffsetCheckpoint'),
    toArray(),
    map((all) => new Map(all.flatMap((update) => pointsOf(update).map((point) => [point.synchronizerId, update])))),
  );
};
