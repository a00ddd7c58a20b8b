import { concatMap, concatWith, defer, mergeMap, type Observable, throwError, timeout } from 'rxjs';
import { errorOf } from '../errors/ApiError.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { ConnectionError } from '../errors/request.js';
import { requestSecrets, toConnectionError } from '../http/exchange.js';
import { currentToken, type Link, requestHeaders } from '../http/Link.js';
import { mapError } from '../http/retry.js';
import type { SocketPort, SocketSign } from './SocketPort.js';

/** A message of a socket: first that it is open, then each element that the service sends. */
export type SocketMessage = { readonly _tag: 'Open' } | { readonly _tag: 'Element'; readonly json: unknown };

/** The subprotocol that participants choose, whatever else is offered. */
const protocols = ['daml.ws.auth'];

/** How long an upgrade may take, in milliseconds. */
const openTimeoutMs = 10_000;

/** How long a socket may show no sign of life, in milliseconds; the service itself allows twice as much. */
const silenceTimeoutMs = 30_000;

/**
 * Sends a request for an endless stream to the service in a WebSocket. Never completes: the end of the socket is an error,
 * too, and every error is a `LedgerError`.
 */
export const openSocket = (link: Link, port: SocketPort, path: string, body: object): Observable<SocketMessage> =>
  currentToken(link).pipe(
    concatMap((token) => {
      const headers = requestHeaders(link, token);
      const secrets = requestSecrets({ headers });
      const url = `${link.baseUrl.replace(/^http/, 'ws')}${path}`;
      const open = (sent: Link['headers']): Observable<SocketSign> =>
        port({ url, protocols, headers: sent, message: JSON.stringify(body) });
      return defer(() => link.socketInterceptor?.({ url, headers }, open) ?? open(headers)).pipe(
        // not reached after an 'End', which errors below
        concatWith(fail(path, 'the socket ended')),
        timeout({
          first: openTimeoutMs,
          each: silenceTimeoutMs,
          with: () => fail(path, 'the socket sent nothing in time'),
        }),
        mergeMap((sign) => toMessages(sign, path, secrets)),
      );
    }),
    mapError((error) => (isLedgerError(error) ? error : toConnectionError(path, error))),
  );

const fail = (path: string, reason: string): Observable<never> => throwError(() => new ConnectionError(path, reason));

function toMessages(sign: SocketSign, path: string, secrets: readonly string[]): readonly SocketMessage[] {
  switch (sign._tag) {
    case 'Open':
      return [sign];
    case 'Alive':
      return [];
    case 'Text':
      return [{ _tag: 'Element', json: parseMessage(sign.text, path, secrets) }];
    case 'End':
      throw new ConnectionError(path, `the socket was closed with ${sign.code}`);
  }
}

/** The JSON of an element. Throws the typed error where the message is an error: a socket has no other way to report one. */
function parseMessage(text: string, path: string, secrets: readonly string[]): unknown {
  const json = parseObject(text, path);
  if ('update' in json) return json;
  if ('code' in json && 'cause' in json)
    throw errorOf({ path, status: toHttpStatus(json['grpcCodeValue']), text, secrets });
  // from a gateway, for example; the next request over HTTP shows what is wrong
  throw new ConnectionError(path, 'the message is not an update');
}

function parseObject(text: string, path: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
  } catch {
    // without the text and JSON.parse's message, which may both hold a payload
    throw new ConnectionError(path, 'the message is not valid JSON');
  }
}

/** The HTTP status that a participant's HTTP answer would have, by gRPC code. */
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
