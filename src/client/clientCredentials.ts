import { asyncScheduler, catchError, defer, map, type Observable, take, tap } from 'rxjs';
import { TokenError, tokenProblem } from '../errors/request.js';
import { toConnectionError } from './exchange.js';
import { type HttpPort, type HttpRequest, type HttpResponse, pathOf } from '../http/HttpPort.js';
import { kyPort } from '../http/kyPort.js';
import { mapError, timeoutWith } from '../http/retry.js';
import { SharedCall } from './SharedCall.js';
import { timesOf } from './claims.js';

/**
 * The client of an OAuth 2 service, and where it logs in.
 *
 * @category Ledger
 */
export interface ClientCredentials {
  /** The token endpoint of the service, an http(s) URL. */
  readonly tokenUrl: string;
  /** The client's ID. */
  readonly clientId: string;
  /** The client's secret. */
  readonly clientSecret: string;
  /** The scopes to request, separated by spaces, such as `daml_ledger_api`. Default: the service decides. */
  readonly scope?: string | undefined;
  /** The audience to request. Services like Auth0 and Keycloak put it into the token, where participants check it. */
  readonly audience?: string | undefined;
  /** Sends the logins, for tests, or for another HTTP client. Default: a port that uses `fetch`. */
  readonly port?: HttpPort | undefined;
}

/**
 * Creates a token function that logs in to an OAuth 2 service by the client credentials grant (RFC 6749, section 4.4). It
 * sends ID and secret by HTTP Basic authentication.
 *
 * - It returns a token until shortly before its end, and then logs in again: after 80 to 90 % of its life, and at most a
 *   minute before its end. If that login fails, it returns the token until its end.
 * - All requests, also those of several ledgers, share one login.
 * - It logs in again if the participant refuses the token.
 * - Its errors have the status and the code of the service, and neither secret nor token. A feed retries a login that
 *   fails, as after any `TokenError`.
 *
 * Do not use it in a web page: its users could read the secret.
 *
 * @returns the function, for the option `token` of a ledger
 * @throws TypeError if an option is invalid
 * @example
 * ```ts
 * import { clientCredentials, createLedger } from 'canton-rx';
 *
 * const token = clientCredentials({
 *   tokenUrl: 'https://login.example/oauth/token',
 *   clientId: 'settlement',
 *   clientSecret: 'from-your-vault',
 *   audience: 'https://daml.com/jwt/aud/participant/participant-1',
 * });
 * const ledger = createLedger({ baseUrl: 'https://participant.example', token });
 * ```
 * @category Ledger
 */
export function clientCredentials(options: ClientCredentials): (refused?: string) => Observable<string> {
  checkCredentials(options);
  const { port = kyPort({ maxResponseBytes }) } = options;
  const request = loginRequest(options);
  const { host } = new URL(request.url);
  let lease: Lease | undefined;
  const login = new SharedCall(
    defer(() => {
      // the life of the token may begin when the service receives the request
      const since = asyncScheduler.now();
      return defer(() => port(request)).pipe(
        take(1),
        mapError((error) => new TokenError(`the login at ${host} failed: ${connectionReason(request, error)}`)),
        timeoutWith(loginTimeoutMs, () => new TokenError(`the login at ${host} failed: there was no response in time`)),
        map((response) => readLease(response, options, since)),
      );
    }).pipe(
      catchError((error: unknown) => {
        if (lease === undefined || ageOf(lease) >= lease.lifeMs) throw error;
        return [{ ...lease, renewAfterMs: Math.min(ageOf(lease) + loginPauseMs, lease.lifeMs) }];
      }),
      tap((next) => {
        lease = next;
      }),
      map(({ token }) => token),
    ),
  );
  return (refused) =>
    defer(() => {
      if (lease?.token === refused) lease = undefined;
      return lease !== undefined && ageOf(lease) < lease.renewAfterMs ? [lease.token] : login.value$;
    });
}

/** How long a login may take, in milliseconds. */
const loginTimeoutMs = 10_000;

/** How long a token that has not ended is used after a login that failed, in milliseconds, before the next login. */
const loginPauseMs = 2_000;

/** The maximum size of a response, in bytes. */
const maxResponseBytes = 2 ** 20;

/** A token, and how long to use it. */
interface Lease {
  readonly token: string;
  /** When it was requested, in milliseconds. */
  readonly since: number;
  /** The time from then until its end, in milliseconds. */
  readonly lifeMs: number;
  /** The time from then until the next login, in milliseconds. */
  readonly renewAfterMs: number;
}

/** How long a token has been in use, in milliseconds. Infinite if the clock was set back: its end is then unknown. */
function ageOf({ since }: Lease): number {
  const ageMs = asyncScheduler.now() - since;
  return ageMs < 0 ? Infinity : ageMs;
}

function checkCredentials({ tokenUrl, clientId, clientSecret, scope, audience }: ClientCredentials): void {
  if (!/^https?:\/\/[^@#]+$/.test(tokenUrl) || !URL.canParse(tokenUrl))
    throw new TypeError('tokenUrl must be an absolute http(s) URL without credentials or hash');
  for (const [name, value] of Object.entries({
    clientId,
    clientSecret,
    scope: scope ?? ' ',
    audience: audience ?? ' ',
  }))
    if (typeof value !== 'string' || value === '') throw new TypeError(`${name} must be a text that is not empty`);
}

function loginRequest({ tokenUrl, clientId, clientSecret, scope, audience }: ClientCredentials): HttpRequest {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    ...(scope !== undefined && { scope }),
    ...(audience !== undefined && { audience }),
  });
  return {
    method: 'POST',
    url: tokenUrl,
    headers: {
      accept: 'application/json',
      // both are encoded first, because the ID may have a colon (RFC 6749, section 2.3.1)
      authorization: `Basic ${btoa(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`)}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: body.toString(),
  };
}

const formEncoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);

/** Why there is no response: the system's code, if there is one. */
function connectionReason({ url }: HttpRequest, error: unknown): string {
  const cause = toConnectionError(pathOf(url), error);
  return `there was no response${'code' in cause && cause.code !== undefined ? ` (${cause.code})` : ''}`;
}

/** Reads the response of a login. Throws a {@link TokenError} with its status, and the code of OAuth if there is one. */
function readLease({ status, text }: HttpResponse, options: ClientCredentials, since: number): Lease {
  const { clientSecret, tokenUrl } = options;
  const { host } = new URL(tokenUrl);
  const { access_token: token, token_type: type = 'Bearer', expires_in: expiresIn, error } = parseObject(text);
  const fail = (problem: string): never => {
    throw new TokenError(`the login at ${host} failed: the response ${problem}${errorCode(error, clientSecret)}`);
  };
  if (status !== 200) return fail(`is ${status}`);
  if (typeof token !== 'string' || tokenProblem(token) !== undefined) return fail('has no valid access_token');
  if (String(type).toLowerCase() !== 'bearer') return fail('has a token that is not a bearer token');
  return leaseOf(token, since, lifetimeMs(token, expiresIn));
}

/** The lifetime of a token if neither the service nor the token shows it, in milliseconds. */
const unknownLifeMs = 60_000;

/** The lifetime of a token, in milliseconds. Some services report it as text, or longer than it is. */
function lifetimeMs(token: string, expiresIn: unknown): number {
  const { iat = Infinity, exp = Infinity } = timesOf(token);
  const seconds = [Number(expiresIn), exp - iat].filter((each) => each > 0 && each < Infinity);
  return seconds.length === 0 ? unknownLifeMs : Math.min(...seconds) * 1_000;
}

/** The longest time before the end of a token in which it is replaced, in milliseconds. */
const maxRenewalMs = 60_000;

/** Renews at a random time, so that the clients of a service do not all log in at the same time. */
const leaseOf = (token: string, since: number, lifeMs: number): Lease => ({
  token,
  since,
  lifeMs,
  renewAfterMs: lifeMs - Math.min(lifeMs / 5, maxRenewalMs) * (0.5 + Math.random() / 2),
});

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}

/** The code of an OAuth error, such as `invalid_client`. Any other text may quote the request. */
const errorCode = (error: unknown, clientSecret: string): string =>
  typeof error === 'string' && /^[a-z_]{3,40}$/.test(error) && !clientSecret.includes(error) ? `: ${error}` : '';
