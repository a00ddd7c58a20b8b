import { randomBytes } from 'node:crypto';
import { request as requestOverHttp } from 'node:http';
import { request as requestOverHttps } from 'node:https';
import { Observable } from 'rxjs';
import type { Connection } from '../arguments/Connection.js';
import { AskError } from '../probe/AskError.js';
import { tokenNow } from '../probe/tokenNow.js';

/** How a service answers the wish to speak WebSocket. */
export interface Upgrade {
  /** 101 where it agrees. */
  readonly status: number;
  /** The subprotocol that it chose. */
  readonly protocol?: string;
}

/** Asks a service to speak WebSocket at a path, as the ledger has it, and hangs up at once. */
export const upgrade = (connection: Connection, path: string): Observable<Upgrade> =>
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
