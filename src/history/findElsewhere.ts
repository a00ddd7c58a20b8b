import { catchError, concatMap, from, map, type Observable, of, tap, toArray } from 'rxjs';
import type { LastUpdate, LedgerPosition } from '../codecs/LedgerPosition.js';
import type { Offset, Timestamp } from '../codecs/scalars.js';
import { LedgerResetError } from '../errors/feed.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { isLater } from '../operators/recordTimes.js';
import { idOf, type Read } from './positions.js';
import { isBlocked } from './participant.js';
import { type Around, type HistoryReader, searchAround, timeIn } from './HistoryReader.js';
import type { Floor } from './Floors.js';

/** The history is the same, at other offsets: the participant was restored, or is another one. */
export interface Elsewhere {
  readonly _tag: 'Elsewhere';
  /** The participant with these offsets; `undefined` if it does not report its ID. */
  readonly participantId: string | undefined;
  /** Where to begin: what was not read is after it. */
  readonly start: Offset;
  /** The update at the start, if it is known. */
  readonly proof: LastUpdate | undefined;
  /** What was read of each synchronizer already, of which some may be after the start. */
  readonly floors: readonly Floor[];
  /** Whether the last update is at its offset nevertheless, and only updates before it have changed their order. */
  readonly isReordered?: boolean;
}

/**
 * Finds where the last updates of all synchronizers are on the participant that answers: each by its ID, or by its record time.
 *
 * Fails with a `LedgerResetError` if one is nowhere, although something later is there.
 *
 * @param difference - what shows that the offsets are not those of the position, for the error
 * @param isBeyond - whether the ledger ends before the last update, so that it may still come
 */
export const findElsewhere = (
  reader: HistoryReader,
  position: LedgerPosition,
  participantId: string | undefined,
  difference: string,
  isBeyond: boolean,
): Observable<Elsewhere> =>
  reader.ledgerEnd$.pipe(
    concatMap((end) => {
      const times = Object.entries(position.recordTimes);
      const { lastUpdate } = position;
      const isTimed = times.some(([, { updateId }]) => updateId !== undefined);
      if (times.length === 0 && lastUpdate === undefined)
        throw new LedgerResetError(position.offset, undefined, difference);
      // without record times, nothing shows what was read of each synchronizer
      if (end === undefined || (lastUpdate !== undefined && !isTimed)) {
        // it may have grown since its refusal, which showed that it lags
        const mayCome = isBeyond || (end ?? position.offset) < position.offset;
        throw new LedgerResetError(position.offset, end, mayCome ? undefined : difference);
      }
      return from(times).pipe(
        concatMap(([synchronizerId, { recordTime, updateId }]) =>
          findIn(reader, position, { synchronizerId, recordTime, updateId, end }, difference),
        ),
        toArray(),
        map((found) => ({ found, end })),
        catchError((error: unknown) => {
          // what is pruned may have been skipped, and shows nothing where the last update may still come
          throw isBeyond && isLedgerError(error, 'PrunedError') ? notYet(position, end) : error;
        }),
      );
    }),
    map(({ found, end }): Elsewhere => {
      const starts = found.filter(({ start }) => start !== undefined);
      const [first] = starts.sort((a, b) => (a.start ?? 0) - (b.start ?? 0));
      // nothing of it is there yet
      if (first?.start === undefined) throw notYet(position, end);
      const { start } = first;
      const proof = first.floor.upTo === start && first.updateId !== undefined;
      return {
        _tag: 'Elsewhere',
        participantId,
        start,
        proof: proof ? { offset: start, updateId: first.updateId } : undefined,
        floors: found.map(({ floor }) => floor),
      };
    }),
  );

/** What is known of a synchronizer on the participant that answers. */
interface Found {
  readonly floor: Floor;
  /** No update up to here is unread; `undefined` if none is later than the record time. */
  readonly start: Offset | undefined;
  readonly updateId: string | undefined;
}

/** The ledger may still read what it does not have. */
const notYet = ({ offset }: LedgerPosition, end: Offset): LedgerResetError =>
  new LedgerResetError(offset, end < offset ? end : undefined);

/** The last update of a synchronizer, and the ledger in which to find it. */
interface Wanted {
  readonly synchronizerId: string;
  readonly recordTime: Timestamp;
  readonly updateId: string | undefined;
  readonly end: Offset;
}

/**
 * Looks up an update that its record time finds, too: emits `undefined` also if a gateway blocks the path, which it may have let
 * through before.
 */
export const lookUp = (reader: HistoryReader, updateId: string): Observable<Offset | undefined> =>
  reader.offsetOf(updateId).pipe(
    catchError((error: unknown) => {
      if (!isBlocked(error)) throw error;
      return of(undefined);
    }),
  );

/** Finds a synchronizer's last update by its ID, and otherwise by its record time. */
const findIn = (
  reader: HistoryReader,
  position: LedgerPosition,
  wanted: Wanted,
  difference: string,
): Observable<Found> => {
  const { synchronizerId, recordTime, updateId } = wanted;
  const floor = { synchronizerId, recordTime, upTo: undefined, updateId };
  return (updateId === undefined ? of(undefined) : lookUp(reader, updateId)).pipe(
    concatMap((upTo): Observable<Found> => {
      if (upTo !== undefined) return of({ floor: { ...floor, upTo }, start: upTo, updateId });
      return around(reader, wanted).pipe(
        concatMap((found) => isAllPruned(reader, wanted, found).pipe(map((isPruned) => ({ ...found, isPruned })))),
        map(({ before, after, isPruned }): Found => {
          const isFound = before !== undefined && (updateId === undefined || idOf(before) === updateId);
          if (isFound) {
            const { offset } = before;
            return { floor: { ...floor, upTo: offset }, start: offset, updateId: idOf(before) };
          }
          const isAtTime = before !== undefined && timeIn(before, synchronizerId) === recordTime;
          const hasPassed = after !== undefined || (isAtTime && wanted.end >= position.offset);
          // it is nowhere, although later ones are there
          if (updateId !== undefined && hasPassed) throw new LedgerResetError(position.offset, undefined, difference);
          // it may still come; that of another synchronizer is left out when it does
          if (updateId !== undefined && isAwaited(position, updateId)) throw notYet(position, wanted.end);
          if (after !== undefined) return { floor, start: after.offset - 1, updateId: undefined };
          // the participant may have been disconnected from it for good: waiting for it would never end
          return { floor: { ...floor, isPruned }, start: undefined, updateId: undefined };
        }),
      );
    }),
  );
};

/**
 * Emits whether the participant has pruned all of a synchronizer. It may not have read it yet instead: that is likely if the last
 * update is later than the first one that is not pruned.
 */
const isAllPruned = (
  { read }: HistoryReader,
  { recordTime, end }: Wanted,
  { before, after, pruned }: Around<Read>,
): Observable<boolean> => {
  const beginExclusive = pruned?.earliestOffset ?? end;
  if (before !== undefined || after !== undefined || beginExclusive >= end) return of(false);
  return read({ beginExclusive, endInclusive: end }, 1).pipe(
    map((first) => first.some((update) => isLater(timeIn(update, undefined) ?? '', recordTime))),
  );
};

/**
 * Whether nothing is read before an update has come: the last one of all. A reader that has read on at other offsets has a
 * later one in that synchronizer; it is not known in which, so each is waited for.
 */
function isAwaited({ lastUpdate, recordTimes }: LedgerPosition, updateId: string): boolean {
  if (lastUpdate === undefined) return false;
  const isLastThere = Object.values(recordTimes).some((point) => point.updateId === lastUpdate.updateId);
  return !isLastThere || updateId === lastUpdate.updateId;
}

/** Searches what the participant has not pruned. If the position may be before that, fails with the `PrunedError`. */
const around = (reader: HistoryReader, { synchronizerId, recordTime, end }: Wanted): Observable<Around<Read>> => {
  const last = reader.searched.get(synchronizerId);
  if (last?.end === end) return of(last);
  const range = { beginExclusive: 0, endInclusive: end };
  return searchAround(reader, synchronizerId, (time) => isLater(time, recordTime), range).pipe(
    tap((found) => {
      if (found.pruned !== undefined && found.before === undefined && found.after !== undefined) throw found.pruned;
      reader.searched.set(synchronizerId, { ...found, end });
    }),
  );
};
