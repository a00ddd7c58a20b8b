import { concatMap, concatWith, defer, mergeMap, throwError, timeout, type Observable } from 'rxjs';
import { ConnectionError } from '../errors/ConnectionError.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { failureOf } from './failureOf.js';
import { headersOf } from './headersOf.js';
import type { Link } from './Link.js';
import { mapError } from './mapError.js';
import { saidIn } from './saidIn.js';
import { secretsOf } from './secretsOf.js';
import type { SocketSign } from './SocketPort.js';
import { tokenFor } from './tokenFor.js';

/** What comes of a socket: first that it is open, then what the service says. */
export type Said = { readonly _tag: 'Open' } | { readonly _tag: 'Said'; readonly json: unknown };

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
export const socketTo = (link: Link, path: string, body: object): Observable<Said> =>
  tokenFor(link).pipe(
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
    mapError((error) => (isLedgerError(error) ? error : failureOf(path, error))),
  );

const failing = (path: string, reason: string): Observable<never> =>
  throwError(() => new ConnectionError(path, reason));

function saidBy(sign: SocketSign, path: string, secrets: readonly string[]): readonly Said[] {
  switch (sign._tag) {
    case 'Open':
      return [sign];
    case 'Alive':
      return [];
    case 'Text':
      return [{ _tag: 'Said', json: saidIn(sign.text, path, secrets) }];
    case 'End':
      throw new ConnectionError(path, `the socket was closed with ${sign.code}`);
  }
}
