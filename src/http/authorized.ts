import { catchError, concatMap, type Observable } from 'rxjs';
import { isApiError, type ApiError } from '../errors/ApiError.js';
import { UnauthorizedError } from '../errors/UnauthorizedError.js';
import { verdict } from '../errors/verdict.js';
import type { Link } from './Link.js';
import { tokenFor } from './tokenFor.js';

/** What of a request decides whether the service refused it before it did anything. */
interface Refusable {
  readonly path: string;
  readonly isSubmission?: boolean;
}

/**
 * Sends a request with the link's token. When the service refuses it, the provider is asked once more: another token
 * goes on, the same is an {@link UnauthorizedError}. A refused request was not carried out, so sending it again is safe.
 */
export function authorized<A>(
  link: Link,
  call: Refusable,
  send: (token: string | undefined) => Observable<A>,
): Observable<A> {
  const token$ = tokenFor(link);
  const unauthorized = (): never => {
    throw new UnauthorizedError(call.path);
  };
  return token$.pipe(
    concatMap((first) =>
      send(first).pipe(
        whenRefused<A>(call, () =>
          token$.pipe(
            concatMap((second) => {
              if (second === first) return unauthorized();
              link.report(() => ({ _tag: 'TokenRefreshed', path: call.path }));
              return send(second).pipe(whenRefused<A>(call, unauthorized));
            }),
          ),
        ),
      ),
    ),
  );
}

const whenRefused = <A>(call: Refusable, otherwise: () => Observable<A>) =>
  catchError<A, Observable<A>>((error: unknown) => {
    if (isApiError(error) && isRefused(error, call)) return otherwise();
    throw error;
  });

/** A token that expired while a submission was waited for says nothing of the submission. */
const isRefused = (error: ApiError, { isSubmission = false }: Refusable): boolean =>
  isSubmission ? error.status === 401 : verdict(error) === 'refresh';
