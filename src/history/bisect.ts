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
  /** How many offsets the last page has spanned. It may have had room for more. */
  readonly span: number;
}

/** The size of the pages in which a history is searched. */
export const searchPageSize = 50;

/**
 * Finds the updates around a moment, by halving a range whose updates are in the order of time, until one page spans the rest.
 *
 * @param firstIn - emits the first updates of a range, in order; none if there is none
 */
export const bisect = <A extends { readonly offset: Offset }>(
  range: { readonly beginExclusive: Offset; readonly endInclusive: Offset },
  isAfter: (update: A) => boolean,
  firstIn: (beginExclusive: Offset, endInclusive: Offset) => Observable<readonly A[]>,
): Observable<Around<A>> => {
  const narrow = (search: Search<A>): Observable<Search<A>> => {
    const { low, high } = search;
    const begin = high - low <= 2 * search.span ? low : Math.floor((low + high) / 2);
    return firstIn(begin, high).pipe(
      map((found): Search<A> => {
        const last = found.at(-1);
        if (last === undefined) return { ...search, high: begin, span: high - begin };
        const span = last.offset - begin;
        const index = found.findIndex(isAfter);
        if (index === 0) return { ...search, high: begin, after: found[0], span };
        if (index === -1) return { ...search, low: last.offset, before: last, pruned: undefined, span };
        return { low: high, high, before: found[index - 1], after: found[index], span };
      }),
      catchError((error: unknown): Observable<Search<A>> => {
        if (!isLedgerError(error, 'PrunedError') || (error.earliestOffset ?? 0) <= begin) throw error;
        return of({ ...search, low: Math.min(error.earliestOffset ?? 0, high), pruned: error });
      }),
    );
  };
  const { beginExclusive: low, endInclusive: high } = range;
  return of<Search<A>>({ low, high, before: undefined, after: undefined, span: searchPageSize / 2 }).pipe(
    expand((search) => (search.low < search.high ? narrow(search) : EMPTY)),
    takeLast(1),
  );
};
