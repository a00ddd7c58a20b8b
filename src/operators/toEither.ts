import type { either as E } from 'fp-ts';
import { catchError, map, of, type OperatorFunction, pipe, throwError } from 'rxjs';
import { isLedgerError, type LedgerError } from '../errors/LedgerError.js';

/**
 * Emits each value as a `right` of fp-ts's `Either`. If the source fails with a {@link LedgerError}, it emits the error
 * as a `left` and completes.
 *
 * Any other error is a bug in the program, and stays an error. The operator does not resubscribe to the source: apply
 * operators that retry before it.
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
 * @category Operators
 */
export function toEither<A>(): OperatorFunction<A, E.Either<LedgerError, A>> {
  return pipe(
    map((value: A) => right(value)),
    catchError((error: unknown) => {
      if (isLedgerError(error)) return of(left(error));
      return throwError(() => error);
    }),
  );
}

// not from fp-ts, which would make Node load this library a fifth slower
const right = <A>(value: A): E.Either<never, A> => ({ _tag: 'Right', right: value });

const left = (error: LedgerError): E.Either<LedgerError, never> => ({ _tag: 'Left', left: error });
