import { catchError, concatMap, defer, map, type Observable, type ObservableInput, take } from 'rxjs';
import type { Report } from '../diagnostics/Diagnostic.js';
import { type ApiError, isApiError } from '../errors/ApiError.js';
import { TokenError, UnauthorizedError } from '../errors/request.js';
import { verdict } from '../errors/verdict.js';
import type { Call } from './exchange.js';
import type { HttpPort, HttpRequest } from './HttpPort.js';
import { mapError, timeoutWith } from './retry.js';
import type { SocketPort } from './SocketPort.js';

/** A bearer token, or what provides one; a provider is asked anew for every request. */
export type Token = string | (() => string | ObservableInput<string>);

/** What every request to one service has in common. */
export interface Link {
  readonly port: HttpPort;
  readonly socketPort: SocketPort;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly token: Token | undefined;
  readonly requestTimeoutMs: number;
  readonly report: Report;
  /** What is to be done around each request, with its outcome as an error of ours. Default: nothing. */
  readonly around?: Around;
}

/**
 * Stands around each request of a link: has it sent, perhaps with further headers, has the JSON of the answer read, and
 * hands on what comes of it, or a `LedgerError`.
 */
export type Around = <A>(
  call: Call,
  request: HttpRequest,
  send: (request: HttpRequest) => Observable<unknown>,
  read: (json: unknown) => A,
) => Observable<A>;

/** The headers of a request over a link: the caller's own come last. */
export const headersOf = (link: Link, token: string | undefined): Readonly<Record<string, string>> => ({
  ...(token !== undefined && { authorization: `Bearer ${token}` }),
  ...link.headers,
});

/** The token to send over a link now; `undefined` where none is to be sent. */
export const currentToken = ({ token, requestTimeoutMs }: Link): Observable<string | undefined> =>
  token === undefined ? defer(() => [undefined]) : resolveToken(token, requestTimeoutMs);

/** The token to send now. Errors with a {@link TokenError} where the provider has none within the time. */
const resolveToken = (token: Token, withinMs: number): Observable<string> =>
  defer(() => {
    const given = typeof token === 'string' ? token : token();
    return typeof given === 'string' ? [given] : given;
  }).pipe(
    take(1),
    // what the provider says of its failure may be secret
    mapError(() => new TokenError('the provider failed')),
    timeoutWith(withinMs, () => new TokenError('the provider gave none in time')),
    map(checked),
  );

/** Whatever the types say: a provider may well hand on the `undefined` of an answer that it did not check. */
function checked(token: unknown): string {
  if (typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)) return token;
  throw new TokenError('the provider gave no token');
}

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
  const token$ = currentToken(link);
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
