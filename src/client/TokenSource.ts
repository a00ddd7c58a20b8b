import {
  asyncScheduler,
  defer,
  map,
  NEVER,
  type Observable,
  type ObservableInput,
  take,
  catchError,
  concatMap,
  tap,
  timer,
} from 'rxjs';
import { TokenError, tokenProblem, ConnectionError, UnauthorizedError } from '../errors/request.js';
import { mapError, timeoutWith } from '../http/retry.js';
import { timesOf } from './claims.js';
import { RecentPaths } from './Learned.js';
import { SharedCall } from './SharedCall.js';
import type { ApiError } from '../errors/ApiError.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { verdict } from '../errors/verdict.js';
import type { Report } from '../diagnostics/Diagnostic.js';

/**
 * A bearer token, or a function that provides one. The function is called before every request, and once for all requests
 * that wait for a token at the same time. After the participant has refused a token, it is called with that token, so that
 * it does not return it from a cache.
 *
 * @category Ledger
 */
export type Token = string | ((refused?: string) => string | ObservableInput<string>);

/** The token function of a session. It knows when its user leaves. */
export interface UserToken {
  (refused?: string): Observable<string>;
  /** Fails when the user leaves, and before the next one signs in. */
  readonly left$: Observable<never>;
}

/** Fails when the user of tokens leaves, if they are those of a session. */
export const userLeft = (token: Token | UserToken | undefined): Observable<never> =>
  typeof token === 'function' && 'left$' in token ? token.left$ : NEVER;

/** Where the requests of a ledger get their tokens. All of them share one call of the provider at a time. */
export class TokenSource {
  readonly #call: SharedCall<string>;
  /** The call after the participant has refused a token. */
  #refresh: { readonly refused: string; readonly call: SharedCall<string> } | undefined;
  /** The paths of the requests for which the participant has accepted a token. */
  readonly #served = new RecentPaths();
  /** By how many milliseconds the clock of what answers is ahead of this machine's: it decides whether a token has ended. */
  #aheadMs = 0;

  readonly #token: Token | undefined;

  constructor(
    token: Token | undefined,
    private readonly timeoutMs: number,
  ) {
    this.#token = token;
    this.#call = new SharedCall(this.#provide());
  }

  /** The token for a request; `undefined` if the ledger has none. Errors with a {@link TokenError}. */
  readonly current$: Observable<string | undefined> = defer(() => {
    if (this.#token === undefined) return [undefined];
    return withOwnError(this.#refresh?.call.isRunning === true ? this.#refresh.call : this.#call);
  });

  /** The token after one was refused, possibly the same one. Errors with a {@link TokenError}. */
  after(refused: string | undefined): Observable<string | undefined> {
    return defer(() => {
      if (refused === undefined) return this.current$;
      if (this.#refresh?.refused !== refused) this.#refresh = { refused, call: new SharedCall(this.#provide(refused)) };
      return withOwnError(this.#refresh.call);
    });
  }

  /** Records that the participant has accepted a token for a path. */
  accepted(path: string): void {
    this.#served.add(path);
  }

  /**
   * Whether a refusal of a token that shows no end may be because of its end: it is from a function, and an earlier request for
   * the path was accepted.
   */
  mayHaveEnded(path: string): boolean {
    return typeof this.#token === 'function' && this.#served.has(path);
  }

  /** Whether a refused token that the provider returns again may be accepted later, or is about to be replaced. */
  mayAcceptLater(refused: string | undefined): boolean {
    const isEnding = Math.abs(this.#msUntilEnd(refused) ?? Infinity) <= endingMs;
    return !this.#served.isEmpty || (typeof this.#token === 'function' && isEnding);
  }

  /** Records the header `Date` of an answer. */
  answeredAt(date = ''): void {
    const aheadMs = Date.parse(date) - asyncScheduler.now();
    // where this machine's clock is ahead, a token counts as ended too early, which costs a call of the provider
    if (!Number.isNaN(aheadMs)) this.#aheadMs = Math.max(0, aheadMs);
  }

  /** Whether a JWT has ended, or ends within seconds; `undefined` for a token that does not show its end. */
  hasEnded(token: string): boolean | undefined {
    const leftMs = this.#msUntilEnd(token);
    return leftMs === undefined ? undefined : leftMs <= endingMs;
  }

  #msUntilEnd(token: string | undefined): number | undefined {
    const { exp } = timesOf(token);
    return exp === undefined ? undefined : exp * 1_000 - asyncScheduler.now() - this.#aheadMs;
  }

  #provide(refused?: string): Observable<string> {
    return defer(() => {
      const provided = typeof this.#token === 'function' ? this.#token(refused) : (this.#token ?? '');
      return typeof provided === 'string' ? [provided] : provided;
    }).pipe(
      take(1),
      timeoutWith(this.timeoutMs, () => new TokenError('the provider did not return one in time')),
      map(validateToken),
    );
  }
}

/** Each subscriber gets its own error, without the text of the provider's error, which may hold a secret. */
const withOwnError = ({ value$ }: SharedCall<string>): Observable<string> =>
  value$.pipe(mapError((error) => new TokenError(error instanceof TokenError ? error.reason : 'the provider failed')));

/** Despite the types, a provider may return `undefined` from a response that it did not check. */
function validateToken(token: unknown): string {
  if (tokenProblem(token) === undefined) return String(token);
  throw new TokenError(`the provider did not return a token${token ? `: it ${tokenProblem(token)}` : ''}`);
}

/**
 * How close to its end a token counts as ending, in milliseconds. A participant refuses a token in the second after its end
 * like one whose user lacks a right, and its clock may differ.
 */
const endingMs = 15_000;

/**
 * Sends a request with the client's token. If the participant refuses the token, calls the provider with the refused token,
 * and repeats the request with the one that it returns. A refused request was not carried out, so it is safe to repeat.
 */
export const sendWithToken = <A>(
  client: TokenUser,
  call: Call,
  send: (token: string | undefined) => Observable<A>,
): Observable<A> =>
  client.tokens.current$.pipe(
    concatMap((token) =>
      sendOnce({ client, call, send }, token).pipe(
        catchError<A, Observable<A>>((error: unknown) => {
          const refusal = refusalIn(error, client, call, token);
          if (refusal === undefined) throw error;
          return sendAfter({ client, call, send }, token, refusal);
        }),
      ),
    ),
  );

/** What sends requests with tokens. */
export interface TokenUser {
  readonly tokens: TokenSource;
  /** The host and the port, for errors. */
  readonly host: string;
  readonly report: Report;
  headersWith(token: string | undefined): Readonly<Record<string, string>>;
}

/** What a request shows of the meaning of its refusal. */
interface Call {
  readonly path: string;
  readonly isSubmission?: boolean;
  readonly checkToken?: (token: string | undefined) => void;
}

/** A request that may be sent with several tokens. */
interface Sending<A> {
  readonly client: TokenUser;
  readonly call: Call;
  readonly send: (token: string | undefined) => Observable<A>;
}

const sendOnce = <A>({ client, call, send }: Sending<A>, token: string | undefined): Observable<A> =>
  defer(() => {
    call.checkToken?.(token);
    return send(token);
  }).pipe(
    tap(() => {
      client.tokens.accepted(call.path);
    }),
  );

/** An error that may be about the token of a request. */
interface Refusal {
  readonly cause: ApiError;
  /** Whether it is about the token. Otherwise, it may be about a right that the user lacks. */
  readonly isCertain: boolean;
}

/**
 * Reads whether an error is about the token. The error in the second after the end of a token, and that of some gateways, is
 * a 403 like the one for a missing right. The end of the token shows which it is; if it is not known, another token does.
 */
function refusalIn(
  cause: unknown,
  { tokens }: TokenUser,
  { isSubmission = false }: Call,
  token: string | undefined,
): Refusal | undefined {
  if (!isLedgerError(cause, 'ApiError')) return undefined;
  const { status, code } = cause;
  // a token that expires while the participant processes a submission does not mean that the submission was refused
  if (status === 401 || (!isSubmission && verdict(cause) === 'refresh')) return { cause, isCertain: true };
  if (status !== 403 || token === undefined || (code !== undefined && code !== 'NA')) return undefined;
  const isEnded = tokens.hasEnded(token);
  if (isEnded === false || (isEnded === undefined && isSubmission && code === undefined)) return undefined;
  return { cause, isCertain: isEnded === true };
}

/** How long a participant refuses a token after its end like one whose user lacks a right, in milliseconds. */
const ambiguousMs = 1_000;

/** Sends a request again with the token that the provider returns after a refusal. */
function sendAfter<A>(sending: Sending<A>, refused: string | undefined, refusal: Refusal): Observable<A> {
  const { client, call } = sending;
  const { cause, isCertain } = refusal;
  const tokens = client.tokens;
  // what answers in place of the ledger does not show what the ledger did
  if (call.isSubmission === true && cause.status === 403 && cause.code === undefined)
    throw new ConnectionError(call.path, 'the answer is 403, and the token has ended', { host: client.host });
  const fail = (token: string | undefined): never => {
    const hasToken = 'authorization' in client.headersWith(token);
    throw new UnauthorizedError(call.path, token !== refused, client.host, hasToken, tokens.mayAcceptLater(token));
  };
  const sendWith = (token: string | undefined): Observable<A> =>
    sendOnce(sending, token).pipe(
      mapError((error) => (refusalIn(error, client, call, token)?.isCertain === true ? fail(token) : error)),
    );
  return tokens.after(refused).pipe(
    concatMap((token) => {
      if (token !== refused) {
        client.report(() => ({ _tag: 'TokenRefreshed', path: call.path }));
        return sendWith(token);
      }
      if (isCertain) return fail(token);
      if (!tokens.mayHaveEnded(call.path)) throw cause;
      // after that time, a token that has ended is a 401
      return timer(ambiguousMs).pipe(
        concatMap(() => tokens.after(refused)),
        concatMap(sendWith),
      );
    }),
  );
}
