import { catchError, concatMap, defer, type Observable } from 'rxjs';
import { isApiError } from '../errors/ApiError.js';
import { UnauthorizedError } from '../errors/UnauthorizedError.js';
import { verdict } from '../errors/verdict.js';
import type { Link } from './Link.js';
import { tokenOf } from './tokenOf.js';

/**
 * Sends a request with the link's token. When the service refuses it, the provider is asked once more: another token
 * goes on, the same is an {@link UnauthorizedError}. A refused request was not carried out, so sending it again is safe.
 */
export function authorized<A>(
  link: Link,
  path: string,
  send: (token: string | undefined) => Observable<A>,
): Observable<A> {
  const token$: Observable<string | undefined> =
    link.token === undefined ? defer(() => [undefined]) : tokenOf(link.token, link.requestTimeoutMs);
  const unauthorized = (): never => {
    throw new UnauthorizedError(path);
  };
  return token$.pipe(
    concatMap((first) =>
      send(first).pipe(
        whenRefused<A>(() =>
          token$.pipe(
            concatMap((second) =>
              second === first ? unauthorized() : send(second).pipe(whenRefused<A>(unauthorized)),
            ),
          ),
        ),
      ),
    ),
  );
}

const whenRefused = <A>(otherwise: () => Observable<A>) =>
  catchError<A, Observable<A>>((error: unknown) => {
    if (isApiError(error) && verdict(error) === 'refresh') return otherwise();
    throw error;
  });
