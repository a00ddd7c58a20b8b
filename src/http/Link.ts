import { map, type Observable, of } from 'rxjs';
import type { Report } from '../diagnostics/Diagnostic.js';
import type { Addresses } from './Addresses.js';
import type { HttpPort, HttpRequest } from './HttpPort.js';
import { TokenSource } from './TokenSource.js';

/** The settings that all requests to one participant share. */
export interface Link {
  readonly port: HttpPort;
  /** The address, without a trailing slash. With `addresses`, it has no meaning before {@link locate}. */
  readonly baseUrl: string;
  /** The addresses of a ledger that has several, or a function. */
  readonly addresses?: Addresses | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly token: TokenSource | undefined;
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
  /** Is called with the end of each request, and since when there should have been a response, in milliseconds. */
  readonly onEnd?: (waitingSince: number, error?: unknown) => void;
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
  /** Is called with the JSON of the body before it is sent, and may throw. */
  readonly checkBody?: (json: string) => void;
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
  request: Pick<HttpRequest, 'url' | 'headers'> & { readonly path: string },
  open: (headers: HttpRequest['headers']) => Observable<A>,
) => Observable<A>;

/** Emits the link at the address of the next request. Requests that belong together go over one such link. */
export function locate(link: Link, path: string): Observable<Link> {
  const { addresses, ...shared } = link;
  if (addresses === undefined) return of(link);
  return addresses.next(path, link.report).pipe(
    map((baseUrl) => ({
      ...shared,
      baseUrl,
      onEnd: (waitingSince, error) => {
        addresses.ended(baseUrl, waitingSince, error);
      },
      // if this address is wrong, the next one may be right
      hasAnswered: (path) => path === undefined || link.hasAnswered?.(path) === true,
    })),
  );
}

/** The address of a link, which may be that of its last request; `undefined` before the first one. */
export const addressOf = ({ baseUrl, addresses }: Pick<Link, 'baseUrl' | 'addresses'>): string | undefined =>
  addresses === undefined ? baseUrl : addresses.last;

/** The host and the port of a link, for errors: without path, query and credentials. */
export function hostOf(link: Pick<Link, 'baseUrl' | 'addresses'>): string {
  const address = addressOf(link);
  return address === undefined ? '' : new URL(address).host;
}

/** The headers of a request over a link. The caller's headers replace those of the library. */
export const requestHeaders = (link: Link, token: string | undefined): Readonly<Record<string, string>> => ({
  ...(token !== undefined && { authorization: `Bearer ${token}` }),
  ...link.headers,
});

/** The tokens of a link. */
export const tokensOf = ({ token }: Pick<Link, 'token'>): TokenSource => token ?? noTokens;

const noTokens = new TokenSource(undefined, 0);
