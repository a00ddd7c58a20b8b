import {
  catchError,
  concatMap,
  EMPTY,
  expand,
  filter,
  find,
  map,
  type Observable,
  of,
  reduce,
  takeLast,
  toArray,
} from 'rxjs';
import type { Offset, Timestamp } from '../codecs/scalars.js';
import type { Update } from '../codecs/Update.js';
import { isLater, synchronizersOf } from '../operators/recordTimes.js';
import { bisect, earliestIn } from './bisect.js';

/** What a search reads of a participant. */
export interface SearchedLedger {
  readonly ledgerEnd$: Observable<Offset>;
  /** The synchronizers to which the participant is connected; none if it does not say. */
  readonly synchronizers$: Observable<readonly string[]>;
  /** Emits the first updates of a range, once. */
  readonly readRange: (begin: Offset, end: Offset, limit: number) => Observable<ReadRange>;
}

/** The updates of a range, or the first of them. */
interface ReadRange {
  readonly updates: readonly Update[];
  /** Up to where all updates of the range are there. */
  readonly reach: Offset;
}

/**
 * Finds the last offset before a record time: no update at or before it has that time or a later one. The ledger end if no
 * update has. Errors with a `PrunedError` if the ledger is pruned, and shows no update before the time.
 *
 * Each step halves the range with a request for one update. Record times ascend within one synchronizer only. With several,
 * the search treats them as one at first. Then it reads back to the last update of each before the result: if that is not
 * before the time, it searches the updates of that synchronizer alone.
 *
 * @param time - in UTC
 */
export const offsetAt = (ledger: SearchedLedger, time: Timestamp): Observable<Offset> =>
  ledger.ledgerEnd$.pipe(
    concatMap((end) => search(ledger, time, end)),
    concatMap((found) =>
      ledger.synchronizers$.pipe(
        concatMap((all) => (all.length > 1 ? lastOfEach(ledger, all, found) : [])),
        concatMap((updates) => [...updates].filter(([, update]) => !isBefore(update, time))),
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
  bisect<Timed>(
    { beginExclusive: 0, endInclusive: end },
    (update) => !isBefore(update, time),
    (begin, to) => firstOf(ledger, begin, to, synchronizer),
  ).pipe(
    map(({ after, pruned }) => {
      if (pruned !== undefined) throw pruned;
      return after === undefined ? end : after.offset - 1;
    }),
  );

/** An update that has a record time. */
type Timed = Extract<Update, { readonly recordTime: Timestamp }>;

const isTimed = (update: Update): update is Timed => 'recordTime' in update;

const isBefore = ({ recordTime }: Timed, time: Timestamp): boolean => isLater(time, recordTime);

/** The maximum number of updates in a request. */
const maxLimit = 200;

/** Emits the first update of a synchronizer, or of any, in a range; `undefined` if there is none. */
function firstOf(
  { readRange }: SearchedLedger,
  begin: Offset,
  end: Offset,
  synchronizer: string | undefined,
): Observable<Timed | undefined> {
  const isWanted = (update: Update): update is Timed =>
    isTimed(update) && (synchronizer === undefined || synchronizersOf(update).includes(synchronizer));
  return readRange(begin, end, 1).pipe(
    expand(({ updates, reach }, index) =>
      reach >= end || updates.some(isWanted) ? EMPTY : readRange(reach, end, Math.min(maxLimit, 8 ** (index + 1))),
    ),
    concatMap(({ updates }) => updates),
    find(isWanted),
  );
}

/** The last update of each synchronizer that has one. */
type LastUpdates = ReadonlyMap<string, Timed>;

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
        const rest$ = earliest < to ? read(earliest) : of(new Map<string, Timed>());
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
const lastIn = ({ readRange }: SearchedLedger, begin: Offset, end: Offset): Observable<LastUpdates> =>
  readRange(begin, end, maxLimit).pipe(
    expand(({ reach }) => (reach >= end ? EMPTY : readRange(reach, end, maxLimit))),
    concatMap(({ updates }) => updates),
    filter(isTimed),
    toArray(),
    map((updates) => new Map(updates.flatMap((update) => synchronizersOf(update).map((id) => [id, update])))),
  );
