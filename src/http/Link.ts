import { catchError, concatMap, defer, map, type Observable, type ObservableInput, take } from 'rxjs';
import type { Report } from '../diagnostics/Diagnostic.js';
import { type ApiError } from '../errors/ApiError.js';
import { isLedgerError, verdict } from '../errors/LedgerError.js';
import { TokenError, tokenProblem, UnauthorizedError } from '../errors/request.js';
import type { HttpPort, HttpRequest } from './HttpPort.js';
import { mapError, timeoutWith } from './retry.js';

/**
 * A bearer token, or a function that provides one. The function is called before every request.
 *
 * @category Ledger
 */
export type Token = string | (() => string | ObservableInput<string>);

/** The settings that all requests to one participant share. */
export interface Link {
  readonly port: HttpPort;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly token: Token | undefined;
  readonly requestTimeoutMs: number;
  /** How long the participant may process a request, in milliseconds. By default, the participant decides. */
  readonly serverTimeoutMs?: number;
  readonly report: Report;
  /** Is called with the path of each success, which shows that the participant can be reached. */
  readonly onSuccess?: (path: string) => void;
  /** Is called with the path of each error that is the participant's own. */
  readonly onRefusal?: (path: string) => void;
  /**
   * Whether the participant has answered, also with an error; with a path, whether it has answered there. Before that, an
   * address may be wrong; afterwards, it is not.
   */
  readonly hasAnswered?: (path?: string) => boolean;
  /** Wraps each request, for example in a span. */
  readonly interceptor?: Interceptor;
  /** Wraps each socket of a transport in the same way. */
  readonly socketInterceptor?: SocketInterceptor;
}

/** One request to the participant. */
export interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Readonly<Record<string, number | string>>;
  readonly body?: unknown;
  /** Creates the body each time the request is sent. Only without `body`. */
  readonly makeBody?: () => unknown;
  /** How long the participant waits before it answers a poll, in milliseconds. */
  readonly idleMs?: number;
  /** Default: the link's `requestTimeoutMs`, and `idleMs` in addition. */
  readonly timeoutMs?: number;
  /** Whether the request changes the ledger, and is answered after the commit. Such a request is repeated only if it was certainly not carried out. */
  readonly isSubmission?: boolean;
}

/**
 * Wraps each request of a link: sends it, possibly with more headers, reads the JSON of the response, and emits the result
 * or a `LedgerError`.
 */
export type Interceptor = <A>(
  call: Call,
  request: HttpRequest,
  send: (request: HttpRequest) => Observable<unknown>,
  read: (json: unknown) => A,
) => Observable<A>;

/** Wraps each socket of a link: opens it, possibly with more headers, and emits its signs. The tag of the first is `'Open'`. */
export type SocketInterceptor = <A extends { readonly _tag: string }>(
  request: Pick<HttpRequest, 'url' | 'headers'>,
  open: (headers: HttpRequest['headers']) => Observable<A>,
) => Observable<A>;

/** The host and the port of a link, for errors: without path, query and credentials. */
export const hostOf = ({ baseUrl }: Pick<Link, 'baseUrl'>): string => new URL(baseUrl).host;

/** The headers of a request over a link. The caller's headers replace those of the library. */
export const requestHeaders = (link: Link, token: string | undefined): Readonly<Record<string, string>> => ({
  ...(token !== undefined && { authorization: `Bearer ${token}` }),
  ...link.headers,
});

/**
 * Sends a request with the link's token. If the participant refuses the token, calls the provider again and repeats the
 * request, unless the token is the same. A refused request was not carried out, so it is safe to repeat.
 */
export function sendWithToken<A>(
  link: Link,
  call: Call,
  send: (token: string | undefined) => Observable<A>,
): Observable<A> {
  const token$ = currentToken(link);
  const refresh = (refused: string | undefined): Observable<A> =>
    token$.pipe(
      concatMap((token) => {
        if (token === refused) throw new UnauthorizedError(call.path, false, hostOf(link), hasToken(link, token));
        link.report(() => ({ _tag: 'TokenRefreshed', path: call.path }));
        return send(token).pipe(
          catchRefusal<A>(call, () => {
            throw new UnauthorizedError(call.path, true, hostOf(link));
          }),
        );
      }),
    );
  return token$.pipe(concatMap((token) => send(token).pipe(catchRefusal<A>(call, () => refresh(token)))));
}

const hasToken = (link: Link, token: string | undefined): boolean => 'authorization' in requestHeaders(link, token);

const catchRefusal = <A>(call: Call, handle: () => Observable<A>) =>
  catchError<A, Observable<A>>((error: unknown) => {
    if (isLedgerError(error, 'ApiError') && isRefusal(error, call)) return handle();
    throw error;
  });

/** A token that expires while the participant processes a submission does not mean that the submission was refused. */
const isRefusal = (error: ApiError, { isSubmission = false }: Call): boolean =>
  isSubmission ? error.status === 401 : verdict(error) === 'refresh';

/** The token to send over a link now, or `undefined` for none. */
export const currentToken = ({ token, requestTimeoutMs }: Link): Observable<string | undefined> =>
  token === undefined ? defer(() => [undefined]) : resolveToken(token, requestTimeoutMs);

/** Errors with a {@link TokenError} when the provider fails or returns no token in time. */
const resolveToken = (token: Token, timeoutMs: number): Observable<string> =>
  defer(() => {
    const provided = typeof token === 'string' ? token : token();
    return typeof provided === 'string' ? [provided] : provided;
  }).pipe(
    take(1),
    // the provider's own error may hold a secret
    mapError(() => new TokenError('the provider failed')),
    timeoutWith(timeoutMs, () => new TokenError('the provider did not return one in time')),
    map(validateToken),
  );

/** Despite the types, a provider may return `undefined` from a response that it did not check. */
function validateToken(token: unknown): string {
  if (tokenProblem(token) === undefined) return String(token);
  throw new TokenError(`the provider did not return a token${token ? `: it ${tokenProblem(token)}` : ''}`);
}
