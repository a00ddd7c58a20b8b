import { catchError, map, of, throwError, type Observable } from 'rxjs';
import type { Offset } from '../../codecs/Offset.js';
import { isApiError } from '../../errors/ApiError.js';
import type { Ledger } from '../../ledger/Ledger.js';

/**
 * Where to begin. Asks for the ledger end in any case: a feed waits for a ledger that cannot be reached, and whoever
 * mistyped its address should not. What the ledger itself answers is for the feed to judge; it may do without the end.
 */
export const beginOf = (
  ledger: Ledger,
  { from, to = Infinity }: { readonly from: Offset | 'end'; readonly to: Offset | undefined },
): Observable<Offset> =>
  ledger.ledgerEnd().pipe(
    map((end) => {
      if (from !== 'end') return from;
      if (end > to) throw new Error(`the ledger ends at ${end}, beyond --to ${to}`);
      return end;
    }),
    catchError((error: unknown) => (from !== 'end' && isApiError(error) ? of(from) : throwError(() => error))),
  );
