import { map, type Observable } from 'rxjs';
import type { Connection } from '../arguments/Connection.js';
import type { Finding } from './Finding.js';
import { finder } from './finder.js';
import { upgrade } from './upgrade.js';

const path = '/v2/updates';
const { ok, open } = finder('webSocket', 'WebSocket');

/** Whether the service, and whatever is before it, lets WebSocket through. Feeds do without it. */
export const checkWebSocket = (connection: Connection): Observable<Finding> =>
  upgrade(connection, path).pipe(
    map(({ status, protocol }) =>
      status === 101
        ? ok(`possible at ${path}${protocol === undefined ? ', without the subprotocol daml.ws.auth' : ''}`, {
            isPossible: true,
            ...(protocol !== undefined && { protocol }),
          })
        : open(`refused at ${path} (${status}); feeds do without`, { isPossible: false, status }),
    ),
  );
