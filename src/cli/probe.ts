import * as t from 'io-ts';
import { catchError, defer, map, type Observable, of, timeout, TimeoutError } from 'rxjs';
import { toConnectionError } from '../http/exchange.js';
import { kyPort } from '../http/kyPort.js';
import { type HttpResponse, RequestTimeoutError, TokenError } from '../index.js';
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
const maxResponseBytes = 4 * 2 ** 20;

/** How long a response may take, in milliseconds. A check sends three requests in a row in less than 15 seconds. */
export const probeTimeoutMs = 3_500;

/**
 * Sends one request as the library does and emits the response, of whatever status: the library turns a status into an error
 * without the headers and without the body. Errors with a `LedgerError` that holds nothing of the request if there is no
 * response.
 */
export const probe = (
  connection: Connection,
  { method, path, body, isAnonymous = false }: ProbeRequest,
  timeoutMs = probeTimeoutMs,
): Observable<ProbeResponse> =>
  defer(() => {
    const token = isAnonymous ? undefined : tokenOf(connection);
    const [sentAt, startedAt] = [Date.now(), performance.now()];
    const response$ = kyPort({ maxResponseBytes, fetch: connection.fetch })({
      method,
      url: endpointUrl(connection, path),
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return response$.pipe(
      map((response) => ({ ...response, sentAt, receivedAt: Date.now(), tookMs: performance.now() - startedAt })),
      timeout(timeoutMs),
      catchError((error: unknown) => {
        throw error instanceof TimeoutError ? new RequestTimeoutError(path, timeoutMs) : toConnectionError(path, error);
      }),
    );
  });

/** The URL of an endpoint of a ledger. */
export const endpointUrl = ({ ledger }: Connection, path: string): string => `${ledger.replace(/\/+$/, '')}${path}`;

/** The current token; `undefined` if none is sent. Throws a `TokenError`: its file may be gone by now. */
export function tokenOf({ token }: Connection): string | undefined {
  try {
    return token?.();
  } catch {
    throw new TokenError('its file cannot be read');
  }
}

/** Decodes JSON; `undefined` for any other text. */
export function decodeJson<A>(text: string, codec: t.Type<A, unknown>): A | undefined {
  try {
    const decoded = codec.decode(JSON.parse(text));
    return decoded._tag === 'Right' ? decoded.right : undefined;
  } catch {
    return undefined;
  }
}

/** Decodes the JSON of a response with status 200; `undefined` for any other response. */
export const decodeResponse = <A>(
  { status, text }: Pick<ProbeResponse, 'status' | 'text'>,
  codec: t.Type<A, unknown>,
): A | undefined => (status === 200 ? decodeJson(text, codec) : undefined);

const ParticipantId = t.type({ participantId: t.string });

/** The id of the participant; `undefined` if the service does not report it. */
export const participantId = (connection: Connection): Observable<string | undefined> =>
  probe(connection, { method: 'GET', path: '/v2/parties/participant-id' }).pipe(
    map((response) => decodeResponse(response, ParticipantId)?.participantId),
    catchError(() => of(undefined)),
  );

const Synchronizers = t.type({ connectedSynchronizers: t.array(t.type({ synchronizerId: t.string })) });

/** The synchronizers of the participant, or those on which it hosts a party; `undefined` if it does not report them. */
export const synchronizersOf = (connection: Connection, party?: string): Observable<readonly string[] | undefined> => {
  const query = party === undefined ? '' : `?party=${encodeURIComponent(party)}`;
  return probe(connection, { method: 'GET', path: `/v2/state/connected-synchronizers${query}` }).pipe(
    map((response) => decodeResponse(response, Synchronizers)?.connectedSynchronizers),
    map((synchronizers) => synchronizers?.map(({ synchronizerId }) => synchronizerId)),
    catchError(() => of(undefined)),
  );
};
