import { catchError, map, type Observable, of } from 'rxjs';
import { LedgerResetError } from '../../errors/feed.js';
import { isLedgerError, isTransient } from '../../errors/LedgerError.js';
import { bareOffset, type LedgerPosition } from '../../history/LedgerPosition.js';
import type { Place } from '../../history/locate.js';
import type { Followed } from '../followChanges.js';
import { here } from '../withPosition.js';
import { isNobody, isSameSelection, type Parties } from './Selection.js';

/** The parties with which a position was read, and those that are selected now. */
interface Selections {
  readonly before: Parties;
  readonly now: Parties;
}

/**
 * Finds a position on the participant that answers. It takes requests for the parties of before to see the updates of before. If
 * the right to read one of them is gone, or if there were none, only the participant's ID shows the ledger.
 */
export function findBy(
  followedBy: (parties: Parties) => Followed,
  { before, now }: Selections,
  position: LedgerPosition,
): Observable<Place> {
  const { offset, participantId } = position;
  const bare = { ...bareOffset(offset), participantId };
  if (isNobody(before)) return followedBy(now).find(bare);
  const place$ = followedBy(before).find(position);
  if (isSameSelection(before, now)) return place$;
  return place$.pipe(
    catchError((error: unknown) => {
      if (!isLedgerError(error, 'ApiError') || isTransient(error)) throw error;
      // nothing of the ledger is left to be mixed with that of another one
      return isNobody(now) ? of(here) : followedBy(now).find(bare);
    }),
  );
}

/**
 * Finds a position that was read with another selection, which is not known any more. The requests of this one may not see its
 * updates: then only the participant's ID shows the ledger. Fails with a `LedgerResetError` if the participant was restored,
 * because the contracts at the offset of before are no longer those that the caller has.
 */
export const findOfOthers = ({ find }: Followed, position: LedgerPosition): Observable<Place> =>
  find(position).pipe(
    catchError((error: unknown) => {
      const { offset, participantId } = position;
      const isUnseen = isLedgerError(error, 'LedgerResetError') && error.difference !== undefined;
      if (!isUnseen || participantId === undefined) throw error;
      return find({ ...bareOffset(offset), participantId });
    }),
    map((place) => {
      if (place._tag === 'Here') return place;
      throw new LedgerResetError(position.offset, undefined, 'its updates are at other offsets now');
    }),
  );
