import { concatMap, concatWith, defer, mergeMap, type Observable, throwError, timeout } from 'rxjs';
import { errorOf } from '../errors/ApiError.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { ConnectionError } from '../errors/request.js';
import { toConnectionError, secretsOf } from './exchange.js';
import { headersOf, type Link, currentToken } from './Link.js';
import { mapError } from './retry.js';
import type { SocketSign } from './SocketPort.js';

/** What comes of a socket: first that it is open, then what the service says. */
export type SocketMessage = { readonly _tag: 'Open' } | { readonly _tag: 'Said'; readonly json: unknown };

/** The HTTP status that a participant's HTTP answers have for a gRPC code; 500 for any other. */
const statuses: Readonly<Record<number, number>> = {
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

/** The HTTP status of an error that came otherwise than as an HTTP answer. */
export const httpStatusOf = (grpcCode: unknown): number =>
  (typeof grpcCode === 'number' ? statuses[grpcCode] : undefined) ?? 500;

/** The one that participants name in their answer, whatever else was offered. */
const protocols = ['daml.ws.auth'];

/** How long an upgrade may take, in milliseconds. */
const openWithinMs = 10_000;

/** How long a socket may give no sign of life, in milliseconds; the service itself allows twice as much. */
const silenceMs = 30_000;

/**
 * Makes one request in a WebSocket to the service, for what has no end. So it never completes: whatever ends the socket is
 * an error, and every error is a `LedgerError`.
 */
export const socketTo = (link: Link, path: string, body: object): Observable<SocketMessage> =>
  currentToken(link).pipe(
    concatMap((token) => {
      const headers = headersOf(link, token);
      const secrets = secretsOf({ headers });
      const url = `${link.baseUrl.replace(/^http/, 'ws')}${path}`;
      return defer(() => link.socketPort({ url, protocols, headers, message: JSON.stringify(body) })).pipe(
        // behind an end it does not come to that
        concatWith(failing(path, 'the socket ended')),
        timeout({ first: openWithinMs, each: silenceMs, with: () => failing(path, 'the socket fell silent') }),
        mergeMap((sign) => saidBy(sign, path, secrets)),
      );
    }),
    mapError((error) => (isLedgerError(error) ? error : toConnectionError(path, error))),
  );

const failing = (path: string, reason: string): Observable<never> =>
  throwError(() => new ConnectionError(path, reason));

function saidBy(sign: SocketSign, path: string, secrets: readonly string[]): readonly SocketMessage[] {
  switch (sign._tag) {
    case 'Open':
      return [sign];
    case 'Alive':
      return [];
    case 'Text':
      return [{ _tag: 'Said', json: parseMessage(sign.text, path, secrets) }];
    case 'End':
      throw new ConnectionError(path, `the socket was closed with ${sign.code}`);
  }
}

/** The JSON of a message; throws the typed error that it is, since in a socket the ledger tells errors as messages. */
function parseMessage(text: string, path: string, secrets: readonly string[]): unknown {
  const json = jsonOf(text, path);
  if ('update' in json) return json;
  if ('code' in json && 'cause' in json)
    throw errorOf({ path, status: httpStatusOf(json['grpcCodeValue']), text, secrets });
  // of a gateway, say: what it means, a request by HTTP finds out
  throw new ConnectionError(path, 'the message is no element');
}

function jsonOf(text: string, path: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
  } catch {
    // neither its text nor JSON.parse's words go further: both may hold a payload
    throw new ConnectionError(path, 'the message is not whole JSON');
  }
}
