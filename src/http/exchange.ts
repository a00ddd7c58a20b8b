import { defer, map, take, throwIfEmpty, type Observable } from 'rxjs';
import { ConnectionError } from '../errors/ConnectionError.js';
import { errorOf } from '../errors/errorOf.js';
import { InvalidRequestError } from '../errors/InvalidRequestError.js';
import { RequestTimeoutError } from '../errors/RequestTimeoutError.js';
import { authorized } from './authorized.js';
import type { HttpRequest, HttpResponse } from './HttpPort.js';
import type { Link } from './Link.js';
import { headersOf } from './headersOf.js';
import { mapError } from './mapError.js';
import { pathOf } from './pathOf.js';
import { failureOf } from './failureOf.js';
import { retryAfterMs } from './retryAfterMs.js';
import { secretsOf } from './secretsOf.js';
import { within } from './within.js';

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
          mapError((error) => failureOf(path, error)),
          throwIfEmpty(() => new ConnectionError(path, 'there was no answer')),
          within(timeoutMs, () => new RequestTimeoutError(path, timeoutMs)),
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
