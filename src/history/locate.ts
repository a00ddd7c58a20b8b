import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  from,
  ignoreElements,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  tap,
  throwError,
  toArray,
} from 'rxjs';
import type { LastUpdate, LedgerPosition } from '../codecs/LedgerPosition.js';
import type { Offset } from '../codecs/scalars.js';
import { LedgerResetError } from '../errors/feed.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { idOf } from './positions.js';
import { type Elsewhere, findElsewhere, lookUp } from './findElsewhere.js';
import type { Floor } from './Floors.js';
import { hasUnread } from './hasUnread.js';
import type { HistoryReader } from './HistoryReader.js';
import { isRefusedAlone } from './participant.js';

/** Where a position is on the participant that answers. */
export type Place = Here | Elsewhere;

/** The participant is the same, and so are its offsets. */
interface Here {
  readonly _tag: 'Here';
  /**
   * Where everything after is unread: the offset of the last update. Absent if that is pruned, if there is none, or if something
   * without an ID may follow it.
   */
  readonly after?: Offset;
  /** Whether anything shows that the ledger is the same. */
  readonly isProven: boolean;
}

/**
 * Finds a position on the participant that answers now. The last update at its offset proves that nothing has changed, if
 * nothing unread is before it. Otherwise, the last update of each synchronizer is looked up by its ID, or by its record time.
 *
 * Fails with a `LedgerResetError` if the ledger ends before the position, which may pass, or is another one; with a
 * `PrunedError` if another participant has pruned what would show it.
 *
 * @param mayRelocate - whether the participant may be another one
 */
export const locate = (reader: HistoryReader, position: LedgerPosition, mayRelocate: boolean): Observable<Place> =>
  defer(() => (position.participantId === undefined ? of(undefined) : participantOf(reader, position))).pipe(
    concatMap((participantId): Observable<Place> => {
      const { offset, lastUpdate, participantId: expected } = position;
      if (participantId !== undefined && participantId !== expected) {
        const difference = otherThan(expected, participantId);
        if (!mayRelocate || !reader.isSearchable) throw new LedgerResetError(offset, undefined, difference);
        return findElsewhere(reader, position, participantId, difference, false).pipe(
          onlyOn(reader, position, participantId),
        );
      }
      const isSame = participantId !== undefined;
      if (lastUpdate === undefined) return atEnd(reader, position, isSame);
      return isAtOffset(reader, lastUpdate).pipe(
        concatMap((found): Observable<Place> => {
          // a completion that was rejected has no ID, and would be emitted again
          const after = reader.isSearchable ? { after: lastUpdate.offset } : {};
          if (found === 'there')
            return unlessUnread(reader, position, { _tag: 'Here', ...after, isProven: true }, () =>
              findReordered(reader, position, participantId ?? expected).pipe(onlyOn(reader, position, participantId)),
            );
          const place$ =
            found === 'unknown' || typeof found === 'number'
              ? atEnd(reader, position, isSame).pipe(map((here) => afterPruned(here, position, after, found)))
              : findAgain(reader, position, lastUpdate, participantId ?? expected, found === 'beyond');
          return place$.pipe(onlyOn(reader, position, participantId));
        }),
      );
    }),
  );

const otherThan = (expected: string | undefined, participantId: string): string =>
  `the participant is ${participantId}, not ${expected ?? '?'}`;

/**
 * A search takes several requests. If the address has come to lead to another participant since it began, neither has what it
 * found: fails with an error that passes, so that the other one is searched.
 */
const onlyOn = (
  reader: HistoryReader,
  position: LedgerPosition,
  participantId: string | undefined,
): MonoTypeOperatorFunction<Place> => {
  const stayed$ = defer(() => (participantId === undefined ? EMPTY : participantOf(reader, position))).pipe(
    tap((now) => {
      if (now === undefined || now === participantId) return;
      reader.searched.clear();
      throw new LedgerResetError(position.offset);
    }),
    ignoreElements(),
  );
  return (place$) =>
    place$.pipe(
      catchError((error: unknown) => {
        const isVerdict = isLedgerError(error, 'LedgerResetError', 'PrunedError');
        return concat(
          isVerdict ? stayed$ : EMPTY,
          throwError(() => error),
        );
      }),
      concatMap((place) => concat(stayed$, of(place))),
    );
};

/**
 * Whatever follows the last update was not read. A restore may have moved something to an offset before the cursor, and where the
 * last update is pruned, nothing else shows that. What is pruned after the position is a gap.
 */
const afterPruned = (
  here: Here,
  { offset }: LedgerPosition,
  { after }: { readonly after?: Offset },
  pruned: Offset | 'unknown',
): Here =>
  after === undefined || pruned === 'unknown' || pruned > offset ? here : { ...here, after: Math.max(after, pruned) };

/** Without an update that proves it, the ledger must at least have reached the position. */
const atEnd = (reader: HistoryReader, { offset }: LedgerPosition, isProven: boolean): Observable<Here> =>
  reader.ledgerEnd$.pipe(
    map((end) => {
      if (end !== undefined && end < offset) throw new LedgerResetError(offset, end);
      return { _tag: 'Here', isProven };
    }),
  );

/** Emits the ID of the participant, or `undefined` if a gateway blocks its path. */
const participantOf = (reader: HistoryReader, { lastUpdate }: LedgerPosition): Observable<string | undefined> =>
  reader.participantId$.pipe(
    catchError((error: unknown) => {
      if (lastUpdate !== undefined && isRefusedAlone(error)) return of(undefined);
      throw error;
    }),
  );

/**
 * Emits whether an update is at its offset. It is unknown if what is there does not decode. If the offset is pruned, emits the
 * first one that is not.
 */
export const isAtOffset = (
  reader: HistoryReader,
  { offset, updateId }: LastUpdate,
): Observable<'there' | 'gone' | 'unknown' | 'beyond' | Offset> =>
  reader.read({ beginExclusive: offset - 1, endInclusive: offset }, 1).pipe(
    map((read) => {
      if (read.some((element) => idOf(element) === updateId && element.offset === offset)) return 'there';
      // a participant may be slow where a range has no end
      if (!reader.isSearchable && (read.at(-1)?.offset ?? 0) < offset) return 'unknown';
      const isUnreadable = read.some((element) => element.offset === offset && idOf(element) === undefined);
      return isUnreadable ? 'unknown' : 'gone';
    }),
    catchError((error: unknown) => {
      if (isLedgerError(error, 'PrunedError')) return of(error.earliestOffset ?? ('unknown' as const));
      if (isLedgerError(error, 'LedgerResetError')) return of('beyond' as const);
      throw error;
    }),
  );

/**
 * Finds an update again that is not at its offset.
 *
 * @param isBeyond - whether the ledger ends before that
 */
const findAgain = (
  reader: HistoryReader,
  position: LedgerPosition,
  { offset, updateId }: LastUpdate,
  participantId: string | undefined,
  isBeyond: boolean,
): Observable<Place> => {
  const gone = `update ${updateId} is no longer at offset ${offset}`;
  const { recordTimes } = position;
  const isTimed = Object.values(recordTimes).some((point) => point.updateId === updateId);
  return (isTimed ? lookUp(reader, updateId) : reader.offsetOf(updateId)).pipe(
    concatMap((found): Observable<Place> => {
      // a participant may leave out an update from a page
      if (found === offset)
        return unlessUnread(reader, position, { _tag: 'Here', after: offset, isProven: true }, () =>
          findReordered(reader, position, participantId),
        );
      // an update of an unknown variant may have no record time: where it is not found, no other one proves the ledger
      if (found === undefined && !isTimed) return isGone(reader, position, gone, isBeyond);
      return findElsewhere(reader, position, participantId, gone, isBeyond).pipe(
        concatMap((place): Observable<Place> => {
          // it was only left out before
          const isThere = place.floors.some((floor) => floor.updateId === updateId && floor.upTo === offset);
          if (!isThere) return of(place);
          return unlessUnread(reader, position, { _tag: 'Here', after: offset, isProven: true }, () =>
            of({ ...place, isReordered: true }),
          );
        }),
      );
    }),
  );
};

/** Emits that the participant is the same, unless something before the last update is unread. */
const unlessUnread = (
  reader: HistoryReader,
  position: LedgerPosition,
  here: Here,
  findElse: () => Observable<Place>,
): Observable<Place> =>
  hasUnread(reader, position, position.lastUpdate?.offset ?? 0).pipe(
    concatMap((isUnread) => (isUnread ? findElse() : of(here))),
  );

/**
 * Finds where the first of the last updates of all synchronizers is, if only their order has changed. Where it is pruned, that is
 * after what is pruned: something may only have become visible, and then nothing is lost.
 */
const findReordered = (
  reader: HistoryReader,
  position: LedgerPosition,
  participantId: string | undefined,
): Observable<Elsewhere> =>
  findElsewhere(reader, position, participantId, 'its synchronizers are in another order', false).pipe(
    catchError((error: unknown) => {
      const start = isLedgerError(error, 'PrunedError') ? error.earliestOffset : undefined;
      if (start === undefined) throw error;
      return from(Object.entries(position.recordTimes)).pipe(
        concatMap(([synchronizerId, { recordTime, updateId }]) =>
          (updateId === undefined ? of(undefined) : lookUp(reader, updateId)).pipe(
            // one that is pruned does not come again
            map((upTo): Floor => ({ synchronizerId, recordTime, upTo, ...(upTo !== undefined && { updateId }) })),
          ),
        ),
        toArray(),
        map((floors): Elsewhere => ({ _tag: 'Elsewhere', participantId, start, proof: undefined, floors })),
      );
    }),
    map((place) => ({ ...place, isReordered: true })),
  );

/** Fails: the ledger is another one, unless it ends before the position, which may pass. */
const isGone = (
  reader: HistoryReader,
  { offset }: LedgerPosition,
  difference: string,
  isBeyond: boolean,
): Observable<never> =>
  reader.ledgerEnd$.pipe(
    map((end) => {
      const mayCome = isBeyond || (end ?? offset) < offset;
      throw new LedgerResetError(offset, end, mayCome ? undefined : difference);
    }),
  );
