import * as t from 'io-ts';
import { catchError, defer, map, type Observable, of } from 'rxjs';
import { RequestTimeoutError, TokenError } from '../errors/request.js';
import { toConnectionError } from '../http/exchange.js';
import { type HttpRequest, type HttpResponse, pathOf } from '../http/HttpPort.js';
import { kyPort } from '../http/kyPort.js';
import { mapError, timeoutWith } from '../http/retry.js';
import type { Connection } from './Connection.js';

/** One request of a command that inspects a service more closely than the library does. */
export interface ProbeRequest {
  readonly method: 'GET' | 'POST';
  /** The path, with its query if there is one. */
  readonly path: string;
  /** The value of the JSON body, for POST. */
  readonly body?: unknown;
  /** Whether the token is left out. */
  readonly isAnonymous?: boolean;
}

/** A response of whatever status. */
export interface ProbeResponse extends HttpResponse {
  /** When the request was sent and when the response was complete, in milliseconds since 1970. */
  readonly sentAt: number;
  readonly receivedAt: number;
  /** The time between the two, by the monotonic clock, in milliseconds. */
  readonly tookMs: number;
}

/** How much of a response is read, in bytes. */
const maxAnswerBytes = 4 * 2 ** 20;

/**
 * Sends one request by the port of the library and emits the response, of whatever status. Errors with a `LedgerError` that
 * holds nothing of the request if there is no response. Does not use the library's `exchange`, which turns a status into an
 * error without the headers and without the body.
 */
export const probe = (
  connection: Connection,
  { method, path, body, isAnonymous = false }: ProbeRequest,
  timeoutMs: number,
): Observable<ProbeResponse> =>
  defer(() => {
    const token = isAnonymous ? undefined : tokenOf(connection);
    const request: HttpRequest = {
      method,
      url: endpointUrl(connection, path),
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    };
    const failedPath = pathOf(request.url);
    const sentAt = Date.now();
    const startedAt = performance.now();
    return kyPort({ maxAnswerBytes })(request).pipe(
      map((response) => ({ ...response, sentAt, receivedAt: Date.now(), tookMs: performance.now() - startedAt })),
      mapError((error) => toConnectionError(failedPath, error)),
      timeoutWith(timeoutMs, () => new RequestTimeoutError(failedPath, timeoutMs)),
    );
  });

/** The URL of an endpoint of a ledger. */
export const endpointUrl = ({ ledger }: Connection, path: string): string => `${ledger.replace(/\/+$/, '')}${path}`;

/** The current token; `undefined` if none is sent. Throws a {@link TokenError}: its file may be gone by now. */
export function tokenOf({ token }: Connection): string | undefined {
  try {
    return token?.();
  } catch {
    throw new TokenError('its file cannot be read');
  }
}

/** Decodes the JSON of a response with status 200; `undefined` for any other response. */
export function decodeResponse<A>({ status, text }: HttpResponse, codec: t.Type<A, unknown>): A | undefined {
  if (status !== 200) return undefined;
  try {
    const decoded = codec.decode(JSON.parse(text));
    return decoded._tag === 'Right' ? decoded.right : undefined;
  } catch {
    return undefined;
  }
}

/** The id of the participant; `undefined` if the service does not report it. */
export const participantId = (
  send: (request: ProbeRequest) => Observable<HttpResponse>,
): Observable<string | undefined> =>
  send({ method: 'GET', path: '/v2/parties/participant-id' }).pipe(
    map((response) => decodeResponse(response, ParticipantId)?.participantId),
    catchError(() => of(undefined)),
  );

const ParticipantId = t.type({ participantId: t.string });
