import { catchError, from, map, take, throwIfEmpty, type MonoTypeOperatorFunction } from 'rxjs';
import { Offset } from '../codecs/Offset.js';
import type { Feed } from './Feed.js';
import { isGapError } from './Gap.js';
import type { Place, Step } from './Place.js';
import { startOf } from './startOf.js';

/** Lets the caller choose where to go on beyond a gap; without a choice, the gap is an error. */
export const acrossGap = ({ request, onGap, report }: Feed, place: Place): MonoTypeOperatorFunction<Step> =>
  catchError((error: unknown) => {
    if (!isGapError(error)) throw error;
    const { cursor, floor } = place;
    const isDownward = request.descendingOrder === true;
    const fail = (): never => {
      report(() => ({ _tag: 'GapFound', cursor, cause: error }));
      throw error;
    };
    if (onGap === 'fail') return fail();
    return from(onGap({ cursor, error })).pipe(
      take(1),
      throwIfEmpty(fail),
      map((offset): Step => {
        if (!Offset.is(offset)) throw new TypeError('onGap gave no offset');
        // where it was pruned it still is: that would be asked for again and again
        if (error._tag === 'PrunedError' && offset <= (isDownward ? floor : cursor)) return fail();
        report(() => ({ _tag: 'GapFound', cursor, cause: error, resumesFrom: offset }));
        const range = { ...request, beginExclusive: offset };
        return { place: startOf(isDownward ? { ...range, endInclusive: cursor - 1 } : range) };
      }),
    );
  });
