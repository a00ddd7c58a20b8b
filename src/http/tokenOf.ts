import { catchError, defer, from, of, take, throwError, throwIfEmpty, timeout, type Observable } from 'rxjs';
import { TokenError } from '../errors/TokenError.js';
import type { Token } from './Link.js';

/** The token to send now. Errors with a {@link TokenError} where the provider has none within the time. */
export const tokenOf = (token: Token, withinMs: number): Observable<string> =>
  defer(() => {
    const given = typeof token === 'string' ? token : token();
    return typeof given === 'string' ? of(given) : from(given);
  }).pipe(
    take(1),
    throwIfEmpty(() => new TokenError('the provider ended without one')),
    timeout({
      first: withinMs,
      with: () => throwError(() => new TokenError(`the provider did not answer within ${withinMs} ms`)),
    }),
    catchError((error: unknown) =>
      throwError(() => (error instanceof TokenError ? error : new TokenError('the provider failed'))),
    ),
  );
