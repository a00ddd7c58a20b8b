import { catchError, defer, from, map, take, tap, throwIfEmpty, type MonoTypeOperatorFunction } from 'rxjs';
import { Offset } from '../codecs/Offset.js';
import type { Feed } from './Feed.js';
import { isGapError } from './Gap.js';
import type { Place, Step } from './Place.js';
import { startOf } from './startOf.js';

/** Lets the caller choose where to go on beyond a gap; without a choice, the gap is an error. */
export const acrossGap = ({ request, onGap, report }: Feed, here: () => Place): MonoTypeOperatorFunction<Step> =>
  catchError((error: unknown) => {
    if (!isGapError(error)) throw error;
    const { cursor, floor } = here();
    const isDownward = request.descendingOrder === true;
    const fail = (): never => {
      report(() => ({ _tag: 'GapFound', cursor, cause: error }));
      throw error;
    };
    if (onGap === 'fail') return fail();
    return defer(() => from(onGap({ cursor, error }))).pipe(
      take(1),
      tap({
        error: () => {
          report(() => ({ _tag: 'GapFound', cursor, cause: error }));
        },
      }),
      throwIfEmpty(fail),
      map((offset): Step => {
        if (!Offset.is(offset)) throw new TypeError('onGap gave no offset');
        // there it is the same again, and would be for ever
        const isNoWayOn =
          error._tag === 'PrunedError' ? offset <= (isDownward ? floor : cursor) : !isDownward && offset >= cursor;
        if (isNoWayOn) return fail();
        report(() => ({ _tag: 'GapFound', cursor, cause: error, resumesFrom: offset }));
        const range = { ...request, beginExclusive: offset };
        return { place: startOf(isDownward ? { ...range, endInclusive: cursor - 1 } : range) };
      }),
    );
  });
