import { randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { catchError, map, Observable, of, timeout } from 'rxjs';
import { isTokenError } from '../../errors/request.js';
import type { Connection } from '../Connection.js';
import { endpointUrl, tokenOf } from '../probe.js';
import { type Finding, findings, needsToken } from './Finding.js';

const path = '/v2/updates';

/** A service answers an upgrade at once; a proxy may drop it. */
const timeoutMs = 2_500;

const webSocket = findings('webSocket', 'WebSocket');

/** Whether the service, and any proxy in front of it, accepts a WebSocket. Feeds work without one. */
export const checkWebSocket = (connection: Connection): Observable<Finding> =>
  requestUpgrade(connection).pipe(
    timeout({ first: timeoutMs }),
    map(({ status, protocol }) => {
      // the check of the token reports it
      if (status === 401) return webSocket.open(needsToken, { status });
      if (status !== 101)
        return webSocket.open(`refused at ${path} (${status}); feeds poll instead`, { isPossible: false, status });
      // clients that offer a subprotocol fail without one
      if (protocol === undefined)
        return webSocket.open(`no subprotocol daml.ws.auth at ${path}; feeds poll instead`, {
          isPossible: false,
          status,
        });
      return webSocket.ok(`available at ${path}`, { isPossible: true, protocol });
    }),
    // other checks report that the service does not answer
    catchError((error: unknown) => {
      if (isTokenError(error)) throw error;
      return of(webSocket.open(`no response at ${path}; feeds poll instead`, { isPossible: false }));
    }),
  );

/** The answer of a service to the request for a WebSocket. */
interface Upgrade {
  /** 101 if it agrees. */
  readonly status: number;
  /** The chosen subprotocol. */
  readonly protocol?: string;
}

/**
 * Requests a WebSocket as feeds do, and closes the connection at the answer. By `node:http`: fetch cannot upgrade, and a
 * socket of the library does not report the status of a refusal.
 */
const requestUpgrade = (connection: Connection): Observable<Upgrade> =>
  new Observable((subscriber) => {
    const url = new URL(endpointUrl(connection, path));
    const token = tokenOf(connection);
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
      agent: false,
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': randomBytes(16).toString('base64'),
        'sec-websocket-protocol': 'daml.ws.auth',
        // not as a subprotocol: a participant reads the token there only if it is the first one
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
    });
    const emit = (status: number, protocol: string | undefined): void => {
      // no other subprotocol was offered
      const isKnown = protocol === 'daml.ws.auth';
      subscriber.next({ status, ...(isKnown && { protocol }) });
      subscriber.complete();
    };
    request.on('upgrade', ({ headers }) => {
      emit(101, headers['sec-websocket-protocol']);
    });
    request.on('response', ({ statusCode = 0 }) => {
      emit(statusCode, undefined);
    });
    request.on('error', (error) => {
      subscriber.error(error);
    });
    request.end();
    return () => {
      // closes the connection, too
      request.destroy();
    };
  });
