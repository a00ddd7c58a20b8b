import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  from,
  ignoreElements,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  tap,
} from 'rxjs';
import type { UpdateFormat } from '../../codecs/UpdateFormat.js';
import { LedgerResetError } from '../../errors/feed.js';
import { isLedgerError } from '../../errors/LedgerError.js';
import type { Place } from '../../history/locate.js';
import type { LedgerPosition } from '../../codecs/LedgerPosition.js';
import type { Batch } from '../../history/positions.js';
import type { UpdatesPosition } from './UpdatesPosition.js';

/** A position up to which something was read. It is not gone back to. */
export interface Proof {
  readonly position: LedgerPosition;
  /** The selection that was read. Default: that of the feed. */
  readonly updateFormat?: UpdateFormat;
}

/** Returns what was read before a position, by other selections or before it was moved back. */
export const proofsIn = (position: UpdatesPosition): readonly Proof[] => {
  const { offset, participantId, rewoundFrom, seen = [] } = position;
  const proofs = seen.flatMap(({ updateFormat, until = offset, lastUpdate, isMoved }): Proof[] =>
    lastUpdate && isMoved !== true
      ? [{ position: { offset: until, lastUpdate, participantId, recordTimes: {} }, updateFormat }]
      : [],
  );
  return rewoundFrom ? [{ position: rewoundFrom }, ...proofs] : proofs;
};

/**
 * Emits each batch after the ledger has been proven. The position of a feed that has read nothing is a bare offset, and after a
 * restore other updates are there. The proof comes after the batch was read, and so after what was read for it. Fails with a
 * `LedgerResetError` if the offsets are others.
 *
 * @param prove - finds a position on the participant that answers now
 * @param provesItself - whether what comes after a position needs no proof any more
 */
export const provenBy = <A, P extends UpdatesPosition>(
  proofs: readonly Proof[],
  prove: (proof: Proof) => Observable<Place>,
  provesItself: (position: P) => boolean = () => false,
): MonoTypeOperatorFunction<Batch<A, P>> => {
  const proven$ = from(proofs).pipe(concatMap((proof) => prove(proof).pipe(onlyHere(proof), unlessForbidden)));
  return (batch$) =>
    defer(() => {
      let isProven = false;
      return batch$.pipe(
        concatMap((batch) => {
          const before$ = isProven ? EMPTY : proven$;
          isProven = provesItself(batch.position);
          return concat(before$, of(batch));
        }),
      );
    });
};

const onlyHere =
  ({ position }: Proof) =>
  (place$: Observable<Place>): Observable<never> =>
    place$.pipe(
      tap(({ _tag }) => {
        if (_tag === 'Elsewhere')
          throw new LedgerResetError(position.offset, undefined, 'updates that were handled are at other offsets now');
      }),
      ignoreElements(),
    );

/** The right to read as a party that is gone may be gone, too. */
const unlessForbidden = (proven$: Observable<never>): Observable<never> =>
  proven$.pipe(
    catchError((error: unknown) => {
      if (isLedgerError(error, 'ApiError') && error.status === 403) return EMPTY;
      throw error;
    }),
  );
