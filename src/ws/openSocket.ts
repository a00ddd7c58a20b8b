import {
  concatMap,
  concatWith,
  defer,
  mergeMap,
  type Observable,
  takeWhile,
  throwError,
  throwIfEmpty,
  timeout,
} from 'rxjs';
import { errorOf } from '../errors/readAnswer.js';
import { isLedgerError, type LedgerError } from '../errors/LedgerError.js';
import { verdict } from '../errors/verdict.js';
import { ConnectionError } from '../errors/request.js';
import type { Client } from '../client/Client.js';
import { requestSecrets, toConnectionError } from '../client/exchange.js';
import { interceptSocket } from '../client/intercept.js';
import type { HttpRequest } from '../http/HttpPort.js';
import { mapError } from '../http/retry.js';
import { sendWithToken } from '../client/TokenSource.js';
import type { SocketPort, SocketSign } from './SocketPort.js';

/** A message of a socket: first that it is open, then each element that the participant sends. */
export type SocketMessage = { readonly _tag: 'Open' } | { readonly _tag: 'Element'; readonly json: unknown };

/** A request for a stream of the participant. */
interface StreamRequest {
  readonly path: string;
  /** The first message, which starts the stream. */
  readonly body: object;
  /** The field that distinguishes its elements from errors. */
  readonly field: 'update' | 'completionResponse' | 'contractEntry';
}

/** The subprotocol that participants choose, whatever else is offered. */
const protocols = ['daml.ws.auth'];

/** The time limit of an upgrade, in milliseconds. */
const openTimeoutMs = 10_000;

/** The maximum time without a sign of life of a socket, in milliseconds. Participants allow twice as much. */
const silenceTimeoutMs = 30_000;

/**
 * Sends a request for a stream to the participant over a WebSocket. Completes if the participant closes it with 1000,
 * which means that the stream is complete. Any other end of the socket is an error, and every error is a `LedgerError`.
 */
export function openSocket(
  client: Client,
  port: SocketPort,
  stream: StreamRequest,
  token: string | undefined,
): Observable<SocketMessage> {
  const { path, body } = stream;
  const headers = client.headersWith(token);
  const secrets = requestSecrets({ headers });
  const url = `${client.address?.replace(/^http/, 'ws')}${path}`;
  const open = (added: HttpRequest['headers']): Observable<SocketSign> =>
    port({ url, protocols, headers: { ...added, ...headers }, message: JSON.stringify(body) });
  return interceptSocket(client, { url, path }, open, (error) => toConnectionError(path, error)).pipe(
    // not reached after an 'End', which completes or errors below
    concatWith(fail(path, 'the socket ended')),
    timeout({
      first: openTimeoutMs,
      each: silenceTimeoutMs,
      with: () => fail(path, 'the socket sent nothing in time'),
    }),
    takeWhile((sign) => sign._tag !== 'End' || sign.code !== 1000),
    mergeMap((sign) => toMessages(sign, stream, secrets, client.host)),
    mapError((error) => nameHost(isLedgerError(error) ? error : toConnectionError(path, error), client.host)),
  );
}

/** Names the host in an error of the connection. */
const nameHost = (error: LedgerError, host: string): LedgerError =>
  isLedgerError(error, 'ConnectionError')
    ? new ConnectionError(error.path, error.reason, { code: error.code, host })
    : error;

const fail = (path: string, reason: string): Observable<never> => throwError(() => new ConnectionError(path, reason));

function toMessages(
  sign: SocketSign,
  stream: StreamRequest,
  secrets: readonly string[],
  host: string,
): readonly SocketMessage[] {
  switch (sign._tag) {
    case 'Open':
      return [{ _tag: 'Open' }];
    case 'Alive':
      return [];
    case 'Text':
      return [{ _tag: 'Element', json: parseMessage(sign.text, stream, secrets, host) }];
    case 'End':
      throw new ConnectionError(stream.path, `the socket was closed with ${sign.code}`);
  }
}

/**
 * Returns the JSON of an element. Throws the typed error if the message is an error: a socket can report errors in no
 * other way.
 */
function parseMessage(text: string, { path, field }: StreamRequest, secrets: readonly string[], host: string): unknown {
  const json = parseObject(text, path);
  if (field in json) return json;
  if ('code' in json && 'cause' in json)
    throw errorOf({ path, status: toHttpStatus(json['grpcCodeValue']), host, text, secrets });
  // from a gateway, for example; the next request over HTTP shows the cause
  throw new ConnectionError(path, 'the message is not an element');
}

function parseObject(text: string, path: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
  } catch {
    // without the text and the message of JSON.parse, which may both contain a payload
    throw new ConnectionError(path, 'the message is not valid JSON');
  }
}

/** The HTTP status of a participant's HTTP response for the same error, by gRPC code. */
const httpStatuses: Readonly<Record<number, number>> = {
  1: 499,
  3: 400,
  4: 504,
  5: 404,
  6: 409,
  7: 403,
  8: 429,
  9: 400,
  10: 409,
  11: 400,
  12: 501,
  14: 503,
  16: 401,
};

const toHttpStatus = (grpcCode: unknown): number =>
  (typeof grpcCode === 'number' ? httpStatuses[grpcCode] : undefined) ?? 500;

/**
 * Reads a list over a WebSocket, see `Transport.readList`. Completes only if the participant closes an open socket with
 * 1000 and has sent no error: lists have no end marker, so a list that is cut off looks like a shorter one.
 *
 * A token that is rejected before the first element is replaced once, as for a request over HTTP. Later the list cannot
 * be continued without the caller, which then receives a transient error: the next list gets a new token.
 *
 * An element may take long to arrive, because the participant may have to search for it. A socket without any sign of
 * life, not even a pong, is abandoned, like that of a feed. Browsers cannot ping, so there an element must arrive in
 * time.
 *
 * Elements arrive as fast as the participant sends them: a `SocketPort` cannot pause a socket, so a caller that is
 * slower than the participant must buffer.
 */
export const readList = (client: Client, port: SocketPort, path: string, body: object): Observable<unknown> =>
  defer(() => {
    let hasElements = false;
    const readAt = (located: Client): Observable<unknown> =>
      sendWithToken(located, { path }, (token) =>
        openSocket(located, port, { path, body, field: 'contractEntry' }, token).pipe(
          throwIfEmpty(() => new ConnectionError(path, 'the socket did not open')),
          mergeMap((message) => {
            if (message._tag === 'Open') return [];
            hasElements = true;
            return [message.json];
          }),
          mapError((error) =>
            hasElements && isLedgerError(error, 'ApiError') && verdict(error) === 'refresh'
              ? new ConnectionError(path, 'the token expired before the end of the list')
              : error,
          ),
        ),
      );
    return client.located(path).pipe(concatMap(readAt));
  });
