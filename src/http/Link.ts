import type { Observable } from 'rxjs';
import type { Report } from '../diagnostics/Diagnostic.js';
import type { HttpPort, HttpRequest } from './HttpPort.js';
import { TokenSource } from './TokenSource.js';

/** The settings that all requests to one participant share. */
export interface Link {
  readonly port: HttpPort;
  /** Without a trailing slash. */
  readonly baseUrl: string;
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

/** The tokens of a link. */
export const tokensOf = ({ token }: Pick<Link, 'token'>): TokenSource => token ?? noTokens;

const noTokens = new TokenSource(undefined, 0);
