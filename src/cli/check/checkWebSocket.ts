import { catchError, map, of, timeout, type Observable } from 'rxjs';
import type { Connection } from '../arguments/Connection.js';
import { AskError } from '../probe/AskError.js';
import type { Finding } from './Finding.js';
import { finder } from './finder.js';
import { upgrade } from './upgrade.js';

/** A service that answers does so at once; one on the way may swallow it. */
const mostMs = 2_500;

const path = '/v2/updates';
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
