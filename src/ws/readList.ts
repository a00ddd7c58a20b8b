import { defer, mergeMap, type Observable, throwIfEmpty } from 'rxjs';
import { isLedgerError } from '../errors/LedgerError.js';
import { ConnectionError } from '../errors/request.js';
import { verdict } from '../errors/verdict.js';
import type { Service } from '../feed/Service.js';
import { sendWithToken } from '../http/Link.js';
import { mapError } from '../http/retry.js';
import { openSocket } from './openSocket.js';
import type { SocketPort } from './SocketPort.js';

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
export const readList = ({ link }: Service, port: SocketPort, path: string, body: object): Observable<unknown> =>
  defer(() => {
    let hasElements = false;
    return sendWithToken(link, { method: 'GET', path }, (token) =>
      openSocket(link, port, { path, body, field: 'contractEntry' }, token).pipe(
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
  });
