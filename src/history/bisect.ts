import { catchError, EMPTY, expand, map, type Observable, of, takeLast } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { PrunedError } from '../errors/feed.js';
import { isLedgerError } from '../errors/LedgerError.js';

/** The updates around a moment, as far as a search has found them. */
export interface Around<A> {
  /** The last one that is not after the moment. */
  readonly before: A | undefined;
  /** The first one after it. */
  readonly after: A | undefined;
  /** Set if the ledger is pruned, and no later update is known to be before the moment: what is pruned may have any time. */
  readonly pruned?: PrunedError | undefined;
}

/** The state of a search: what is at or before `low` is not after the moment, and what is after `high` is. */
interface Search<A> extends Around<A> {
  readonly low: Offset;
  readonly high: Offset;
}

/**
 * Finds the updates around a moment, by halving a range whose updates are in the order of time.
 *
 * @param firstIn - emits the first update of a range, or `undefined`
 */
export const bisect = <A extends { readonly offset: Offset }>(
  range: { readonly beginExclusive: Offset; readonly endInclusive: Offset },
  isAfter: (update: A) => boolean,
  firstIn: (beginExclusive: Offset, endInclusive: Offset) => Observable<A | undefined>,
): Observable<Around<A>> => {
  const halve = (search: Search<A>): Observable<Search<A>> => {
    const middle = Math.floor((search.low + search.high) / 2);
    return firstIn(middle, search.high).pipe(
      map((found): Search<A> => {
        if (found === undefined) return { ...search, high: middle };
        if (isAfter(found)) return { ...search, high: middle, after: found };
        return { ...search, low: found.offset, before: found, pruned: undefined };
      }),
      catchError((error: unknown): Observable<Search<A>> => {
        const earliest = earliestIn(error);
        if (earliest === undefined || earliest <= middle) throw error;
        return of({ ...search, low: Math.min(earliest, search.high), pruned: error as PrunedError });
      }),
    );
  };
  const { beginExclusive: low, endInclusive: high } = range;
  return of<Search<A>>({ low, high, before: undefined, after: undefined }).pipe(
    expand((search) => (search.low < search.high ? halve(search) : EMPTY)),
    takeLast(1),
  );
};

/** The first offset that is not pruned, in the error of a request for pruned ones. */
export const earliestIn = (error: unknown): Offset | undefined =>
  isLedgerError(error, 'PrunedError') ? error.earliestOffset : undefined;
