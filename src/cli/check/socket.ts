import { randomBytes } from 'node:crypto';
import { request as requestOverHttp } from 'node:http';
import { request as requestOverHttps } from 'node:https';
import { catchError, map, Observable, of, timeout } from 'rxjs';
import type { Connection } from '../arguments.js';
import { AskError, tokenNow } from '../probe/ask.js';
import { finder, type Finding } from './Finding.js';

const path = '/v2/updates';

/** A service that answers does so at once; one on the way may swallow it. */
const mostMs = 2_500;

const { ok, open } = finder('webSocket', 'WebSocket');

/** Whether the service, and whatever is before it, lets WebSocket through. Feeds do without it. */
export const checkWebSocket = (connection: Connection): Observable<Finding> =>
  upgrade(connection, path).pipe(
    timeout({ first: mostMs }),
    map(({ status, protocol }) => {
      if (status !== 101)
        return open(`refused at ${path} (${status}); feeds do without`, { isPossible: false, status });
      // a socket that asks for one is not opened without
      if (protocol === undefined)
        return open(`without the subprotocol daml.ws.auth at ${path}; feeds do without`, { isPossible: false, status });
      return ok(`possible at ${path}`, { isPossible: true, protocol });
    }),
    // that there is a participant, others find out
    catchError((error: unknown) => {
      if (error instanceof AskError && error.code === 'NO_TOKEN') throw error;
      return of(open(`no answer at ${path}; feeds do without`, { isPossible: false }));
    }),
  );

/** How a service answers the wish to speak WebSocket. */
interface Upgrade {
  /** 101 where it agrees. */
  readonly status: number;
  /** The subprotocol that it chose. */
  readonly protocol?: string;
}

/** Asks a service to speak WebSocket at a path, as the ledger has it, and hangs up at once. */
const upgrade = (connection: Connection, path: string): Observable<Upgrade> =>
  new Observable((subscriber) => {
    const url = new URL(`${connection.ledger.replace(/\/+$/, '')}${path}`);
    const value = tokenNow(connection);
    const request = (url.protocol === 'https:' ? requestOverHttps : requestOverHttp)(url, {
      agent: false,
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': randomBytes(16).toString('base64'),
        'sec-websocket-protocol': 'daml.ws.auth',
        // as the sockets of Node.js do; as a protocol, a participant finds it in the first place alone
        ...(value !== undefined && { authorization: `Bearer ${value}` }),
      },
    });
    const answered = (status: number, protocol: string | undefined): void => {
      // whatever else is there has not been offered
      const isKnown = protocol === 'daml.ws.auth';
      subscriber.next({ status, ...(isKnown && { protocol }) });
      subscriber.complete();
    };
    request.on('upgrade', ({ headers }) => {
      answered(101, headers['sec-websocket-protocol']);
    });
    request.on('response', ({ statusCode = 0 }) => {
      answered(statusCode, undefined);
    });
    request.on('error', () => {
      subscriber.error(new AskError('FAILED', false));
    });
    request.end();
    return () => {
      // and the connection with it, whatever it was to become
      request.destroy();
    };
  });
