import * as t from 'io-ts';
import { catchError, defer, map, type Observable, of, tap, timeout, TimeoutError } from 'rxjs';
import { fromFetch } from 'rxjs/fetch';
import { ConnectionError, isLedgerError, RequestTimeoutError, ResponseTooLargeError, TokenError } from '../index.js';
import type { Connection } from './Connection.js';
import { escapeText } from './text.js';

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
export interface ProbeResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** When the request was sent and when the response was complete, in milliseconds since 1970. */
  readonly sentAt: number;
  readonly receivedAt: number;
  /** The time between the two, by the monotonic clock, in milliseconds. */
  readonly tookMs: number;
}

/** How much of a response is read, in bytes. */
const maxResponseBytes = 4 * 2 ** 20;

/**
 * Sends one request and emits the response, of whatever status: the library turns a status into an error without the headers
 * and without the body. Errors with a `LedgerError` that holds nothing of the request if there is no response.
 */
export const probe = (
  connection: Connection,
  { method, path, body, isAnonymous = false }: ProbeRequest,
  timeoutMs: number,
): Observable<ProbeResponse> =>
  defer(() => {
    const token = isAnonymous ? undefined : tokenOf(connection);
    const [sentAt, startedAt] = [Date.now(), performance.now()];
    return fromFetch(endpointUrl(connection, path), {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: 'manual',
      selector: async (response) => ({
        status: response.status,
        headers: Object.fromEntries(response.headers),
        text: await readText(response, path),
      }),
    }).pipe(
      map((response) => ({ ...response, sentAt, receivedAt: Date.now(), tookMs: performance.now() - startedAt })),
      tap({
        next: ({ status, tookMs }) => connection.log?.(requestLine(method, path, String(status), tookMs)),
        error: () => connection.log?.(requestLine(method, path, 'no response', performance.now() - startedAt)),
      }),
      timeout(timeoutMs),
      catchError((error: unknown) => {
        if (error instanceof TimeoutError) throw new RequestTimeoutError(path, timeoutMs);
        throw isLedgerError(error) ? error : new ConnectionError(path, 'the connection failed', innermostCode(error));
      }),
    );
  });

/** A request as `--verbose` shows it: `POST /v2/updates?limit=200  200  12 ms`. */
export const requestLine = (method: string, url: string, result: string, tookMs: number): string =>
  `${method} ${escapeText(url.replace(/^https?:\/\/[^/]+/, ''))}  ${result}  ${Math.round(tookMs)} ms`;

async function readText({ body, ok }: Response, path: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxResponseBytes) throw new ResponseTooLargeError(path, maxResponseBytes);
    chunks.push(chunk);
  }
  // of an error, the status is what counts
  return new TextDecoder('utf-8', { fatal: ok }).decode(Buffer.concat(chunks));
}

/** fetch wraps the errors of the system. */
function innermostCode(error: unknown, depth = 0): string | undefined {
  if (typeof error !== 'object' || error === null || depth > 8) return undefined;
  const inner = 'cause' in error ? innermostCode(error.cause, depth + 1) : undefined;
  return inner ?? ('code' in error && typeof error.code === 'string' ? error.code : undefined);
}

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
export const participantId = (
  send: (request: ProbeRequest) => Observable<ProbeResponse>,
): Observable<string | undefined> =>
  send({ method: 'GET', path: '/v2/parties/participant-id' }).pipe(
    map((response) => decodeResponse(response, ParticipantId)?.participantId),
    catchError(() => of(undefined)),
  );

const Synchronizers = t.type({ connectedSynchronizers: t.array(t.type({ synchronizerId: t.string })) });

/** The connected synchronizers in a response; `undefined` if it has none. */
export const synchronizersIn = (response: ProbeResponse): readonly string[] | undefined =>
  decodeResponse(response, Synchronizers)?.connectedSynchronizers.map(({ synchronizerId }) => synchronizerId);
