import type * as t from 'io-ts';
import { asyncScheduler, defer, map, type Observable, take, throwIfEmpty } from 'rxjs';
import { problemsOf } from '../codecs/Problem.js';
import { errorOf } from '../errors/ApiError.js';
import { DecodeError } from '../errors/feed.js';
import {
  AnswerTooLargeError,
  ConnectionError,
  InvalidRequestError,
  isAnswerTooLargeError,
  RequestTimeoutError,
} from '../errors/request.js';
import type { HttpRequest, HttpResponse } from './HttpPort.js';
import { pathOf } from './kyPort.js';
import { authorized, headersOf, type Link } from './Link.js';
import { mapError, timeoutWith } from './retry.js';

/** One request to the service. */
export interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Readonly<Record<string, number>>;
  readonly body?: unknown;
  /** Makes the body anew each time that it is sent, in place of `body`. */
  readonly bodyAt?: () => unknown;
  /** Default: the link's. */
  readonly timeoutMs?: number;
  /** Whether it changes the ledger: it is then sent again only where it was certainly not carried out. */
  readonly isSubmission?: boolean;
}

/**
 * What the service answers to one request; every failure is a `LedgerError`. Asks once, whatever comes.
 *
 * @param read - makes what is wanted of the answer's JSON; throws where that is not in it
 */
export const exchange = <A>(link: Link, call: Call, read: (json: unknown) => A): Observable<A> =>
  defer(() => {
    const { timeoutMs = link.requestTimeoutMs } = call;
    return authorized(link, call, (token) => {
      const request = requestOf(link, call, token);
      const path = pathOf(request.url);
      const send = (sent: HttpRequest): Observable<unknown> =>
        defer(() => link.port(sent)).pipe(
          take(1),
          mapError((error) => toConnectionError(path, error)),
          throwIfEmpty(() => new ConnectionError(path, 'there was no answer')),
          timeoutWith(timeoutMs, () => new RequestTimeoutError(path, timeoutMs)),
          map((response) => jsonOf(request, path, response)),
        );
      return link.around === undefined ? send(request).pipe(map(read)) : link.around(call, request, send, read);
    });
  });

function requestOf(
  link: Link,
  { method, path, query, bodyAt, body = bodyAt?.() }: Call,
  token: string | undefined,
): HttpRequest {
  const search = new URLSearchParams(
    Object.entries(query ?? {}).map(([key, value]) => [key, String(value)]),
  ).toString();
  return {
    method,
    url: `${link.baseUrl}${path}${search === '' ? '' : `?${search}`}`,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headersOf(link, token),
    },
    ...(body !== undefined && { body: jsonText(body) }),
  };
}

function jsonText(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch {
    // a cycle, or a bigint; the platform's own words quote where it is
    throw new InvalidRequestError([{ path: '', expected: 'what can be written as JSON' }]);
  }
}

function jsonOf(request: HttpRequest, path: string, { status, headers, text }: HttpResponse): unknown {
  if (status < 200 || status > 299) {
    const wait = retryAfterMs(headers['retry-after']);
    throw errorOf({
      path,
      status,
      text,
      secrets: secretsOf(request),
      ...(wait !== undefined && { retryAfterMs: wait }),
    });
  }
  try {
    return JSON.parse(text);
  } catch {
    // neither its text nor JSON.parse's words go further: both may hold a payload
    throw new ConnectionError(path, 'the answer is not whole JSON');
  }
}

/** The typed error of a request without an answer. Made anew in any case: what a port errors with may hold the request. */
export function toConnectionError(path: string, error: unknown): ConnectionError | AnswerTooLargeError {
  if (isAnswerTooLargeError(error)) return new AnswerTooLargeError(path, error.maxBytes);
  return new ConnectionError(path, 'the connection failed', codeWithin(error));
}

/** The system's code, from the innermost error that has one: fetch wraps them, and ky wraps fetch's. */
function codeWithin(error: unknown, depth = 0): string | undefined {
  if (typeof error !== 'object' || error === null || depth > 8) return undefined;
  const inner = 'cause' in error ? codeWithin(error.cause, depth + 1) : undefined;
  return inner ?? ('code' in error && isCode(error.code) ? error.code : undefined);
}

/** A name, and not whatever a `fetch` of the caller's may put there. */
const isCode = (u: unknown): u is string => typeof u === 'string' && /^[A-Z][A-Z0-9_]{1,40}$/.test(u);

/** The `Retry-After` header, a number of seconds or a date, in milliseconds from now. */
export function retryAfterMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const seconds = Number(header);
  const wait = Number.isNaN(seconds) ? Date.parse(header) - asyncScheduler.now() : seconds * 1000;
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined;
}

/** What of a body is nobody else's business: the string after each of these keys. */
const signed = /"(?:signature|preparedTransaction)":"([^"]+)"/g;

/** What of a request must not come out again: its token, the caller's own headers, what was signed and the signatures. */
export function secretsOf({ headers, body = '' }: Pick<HttpRequest, 'headers' | 'body'>): readonly string[] {
  const { authorization = '', ...others } = headers;
  return [
    // without the name of its scheme
    authorization.split(' ').at(-1) ?? '',
    ...Object.entries(others).flatMap(([name, value]) => (isSecret(name, value) ? [value] : [])),
    ...Array.from(body.matchAll(signed), ([, secret = '']) => secret),
  ].filter(Boolean);
}

/** A short one is no secret, and may well be a word of the answer. */
const isSecret = (header: string, value: string): boolean => header !== 'content-type' && value.length >= 8;

/** A request with all that the ledger wants said, by its codec; throws an {@link InvalidRequestError}. */
export function validateRequest<A>(codec: t.Type<A, unknown>, request: unknown): A {
  const result = codec.decode(request);
  if (result._tag === 'Left') throw new InvalidRequestError(problemsOf(result.left));
  return result.right;
}

/** The value of an answer by its codec; throws a {@link DecodeError}. For `map`. */
export const decodeWith =
  <A>(path: string, codec: t.Type<A, unknown>) =>
  (json: unknown): A => {
    const result = codec.decode(json);
    if (result._tag === 'Left') throw new DecodeError(path, problemsOf(result.left));
    return result.right;
  };
