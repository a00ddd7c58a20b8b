import { asyncScheduler, defer, map, NEVER, type Observable, type ObservableInput, take } from 'rxjs';
import { TokenError, tokenProblem } from '../errors/request.js';
import { mapError, timeoutWith } from '../http/retry.js';
import { RecentPaths } from './Learned.js';
import { SharedCall } from './SharedCall.js';

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

/** The times of a JWT, in seconds since the epoch. */
interface TokenTimes {
  readonly iat?: number;
  readonly exp?: number;
}

/** Reads the times of a JWT; none of another token. */
export function timesOf(token = ''): TokenTimes {
  const claims = claimsOf(token);
  return { ...numberIn(claims, 'iat'), ...numberIn(claims, 'exp') };
}

/** Reads the user of a JWT; `undefined` for another token. */
export function userOf(token = ''): string | undefined {
  const { sub } = claimsOf(token) as { readonly sub?: unknown };
  return typeof sub === 'string' ? sub : undefined;
}

/** Reads the claims of a JWT; none of another token. Does not check the signature. */
function claimsOf(token: string): object {
  const [, payload, signature] = token.split('.');
  if (payload === undefined || signature === undefined) return {};
  try {
    return Object(JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')))) as object;
  } catch {
    return {};
  }
}

const numberIn = (claims: object, name: keyof TokenTimes): TokenTimes => {
  const value = (claims as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'number' ? { [name]: value } : {};
};
