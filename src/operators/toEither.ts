import { either as E } from 'fp-ts';
import { catchError, map, of, pipe, throwError, type OperatorFunction } from 'rxjs';
import { isLedgerError, type LedgerError } from '../errors/LedgerError.js';

/**
 * Emits every value as a right of fp-ts' Either and a {@link LedgerError} as a left, after which it completes.
 *
 * An error that is no ledger error is a mistake in the program, not an answer of the ledger: it is delivered as the
 * error that it is. The source is not subscribed to again; what retries stands before this operator.
 *
 * @example
 * ```ts
 * import { either as E } from 'fp-ts';
 * import { of } from 'rxjs';
 * import { toEither } from 'canton-rx';
 *
 * of(7)
 *   .pipe(toEither())
 *   .subscribe((result) => {
 *     console.log(E.isRight(result)); // true
 *   });
 * ```
 */
export function toEither<A>(): OperatorFunction<A, E.Either<LedgerError, A>> {
  return pipe(
    map((value: A) => E.right<LedgerError, A>(value)),
    catchError((error: unknown) => {
      if (isLedgerError(error)) return of(E.left<LedgerError, A>(error));
      return throwError(() => error);
    }),
  );
}
