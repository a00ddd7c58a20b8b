import type { either as E } from 'fp-ts';
import { catchError, map, of, type OperatorFunction, pipe, throwError } from 'rxjs';
import { isLedgerError, type LedgerError } from '../errors/LedgerError.js';

/**
 * Emits every value as a right of fp-ts' Either and a {@link LedgerError} as a left, after which it completes.
 *
 * Any other error is a bug in the program and is delivered as an error. The source is not subscribed to again; apply
 * operators that retry before this one.
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

// not from fp-ts: loading it would add a fifth to the time in which Node loads this library
const right = <A>(value: A): E.Either<never, A> => ({ _tag: 'Right', right: value });

const left = (error: LedgerError): E.Either<LedgerError, never> => ({ _tag: 'Left', left: error });
