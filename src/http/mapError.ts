import { catchError, type MonoTypeOperatorFunction } from 'rxjs';

/** Puts another error in the place of the one that comes. */
export const mapError = <A>(put: (error: unknown) => unknown): MonoTypeOperatorFunction<A> =>
  catchError((error: unknown) => {
    throw put(error);
  });
