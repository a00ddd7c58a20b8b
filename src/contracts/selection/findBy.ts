import { catchError, map, type Observable, of } from 'rxjs';
import { isLedgerError } from '../../errors/LedgerError.js';
import { isTransient } from '../../errors/verdict.js';
import { placeOfOthers } from '../../feed/prove.js';
import { bareOffset, type LedgerPosition } from '../../codecs/LedgerPosition.js';
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
 * Finds a position that was read with another selection, which is not known any more: see {@link placeOfOthers}. Fails if the
 * participant was restored, or is another one on which the caller would continue: what the caller has is of no offset of it, and
 * only requests of before show what it lacks.
 *
 * @param movedError - makes the error
 */
export function findOfOthers(
  { stubAt }: Followed,
  position: LedgerPosition,
  movedError: () => unknown,
): Observable<Place> {
  const stub = stubAt(position);
  return placeOfOthers(stub, position).pipe(
    catchError((error: unknown) => {
      const isOther = isLedgerError(error, 'LedgerResetError') && error.difference !== undefined;
      throw isOther && stub.onOtherNode === 'relocate' ? movedError() : error;
    }),
    map((place) => {
      if (place._tag !== 'Here') throw movedError();
      return place;
    }),
  );
}
