import { ConnectionError } from '../errors/ConnectionError.js';
import { pathOf } from './pathOf.js';
import { signsOf } from './signsOf.js';
import type { SocketPort } from './SocketPort.js';

/**
 * The code to close with. A regular end is answered once the stream of the service has ended, and that of updates never
 * does: the socket would stay, and in Node.js the process with it.
 */
const leaving = 4000;

/** The port of the platform's own `WebSocket`: of browsers, and of Node.js from 22 on. */
export const webSocketPort =
  (): SocketPort =>
  ({ url, protocols, headers, message }) => {
    const token = headers['authorization']?.replace(/^Bearer +/i, '');
    // in this order: of several, participants find the token in the first alone
    const offered = token === undefined ? [...protocols] : [`jwt.token.${token}`, ...protocols];
    return signsOf(
      () => {
        if (!('WebSocket' in globalThis))
          throw new ConnectionError(pathOf(url), 'there is no WebSocket on this platform');
        return new WebSocket(url, offered);
      },
      message,
      (socket) => {
        socket.close(leaving);
      },
    );
  };
