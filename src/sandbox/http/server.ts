import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { sleep } from '../wire/values.js';
import { parseUrl, type Service } from './Call.js';
import { findStream } from './routes.js';
import { serve } from './serve.js';
import { serveSocket } from './serveSocket.js';

/** Starts the server. It keeps its port across restarts. */
export async function startServer(port: number, service: Service): Promise<RunningServer> {
  let current = await listen(port, service);
  const { url, port: boundPort } = current;
  const closing = new AbortController();
  let lastRestart = Promise.resolve();
  return { url, restart, close };

  function restart(downMs: number, whileDown?: () => void): Promise<void> {
    lastRestart = lastRestart.catch(ignore).then(() => reopen(downMs, whileDown));
    return lastRestart;
  }

  async function reopen(downMs: number, whileDown?: () => void): Promise<void> {
    await current.close();
    whileDown?.();
    await sleep(downMs, closing.signal);
    // lets a client in this process notice the end of its connections first, so that it does not reuse them
    for (let turn = 0; turn < 2; turn++) await nextTurn();
    if (!closing.signal.aborted) current = await listen(boundPort, service);
  }

  async function close(): Promise<void> {
    closing.abort();
    await current.close();
    await lastRestart.catch(ignore);
    // a restart may have opened the port in the meantime
    await current.close();
  }
}

interface RunningServer {
  readonly url: string;
  readonly restart: (downMs: number, whileDown?: () => void) => Promise<void>;
  readonly close: () => Promise<void>;
}

interface ListeningServer {
  readonly url: string;
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** Listens on the loopback interface. */
async function listen(port: number, service: Service): Promise<ListeningServer> {
  const server = createServer((request, response) => void serve(request, response, service));
  // the HTTP server does not track upgraded connections
  const upgraded = new Set<Socket>();
  server.on('upgrade', (request, _socket, head) => {
    const { socket } = request;
    const stream = isWebSocketUpgrade(request)
      ? findStream(parseUrl(request).path, service.participant.settings)
      : undefined;
    if (stream === undefined) {
      reemitUpgrade(server, request, head);
      return;
    }
    upgraded.add(socket);
    socket.once('close', () => upgraded.delete(socket));
    void serveSocket(request, head, stream, service);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the sandbox has no TCP address');
  let closed: Promise<void> | undefined;
  const close = () => {
    const ended = promisify(server.close.bind(server))();
    for (const record of service.log) record.settle();
    server.closeAllConnections();
    for (const socket of upgraded) socket.destroy();
    return ended;
  };
  const { port: bound } = address;
  return { url: `http://127.0.0.1:${bound}`, port: bound, close: () => (closed ??= close()) };
}

/** Whether a request is a complete WebSocket handshake. */
function isWebSocketUpgrade({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['sec-websocket-version'] === '13' &&
    /^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '')
  );
}

/**
 * Emits a request again without its `Upgrade` header: HTTP requires that a server ignores an upgrade that it does not
 * support. Some clients request an upgrade to HTTP/2 on every request.
 */
function reemitUpgrade(server: Server, request: IncomingMessage, head: Buffer): void {
  const { method = 'GET', url = '/', httpVersion, rawHeaders, socket } = request;
  let lines = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index);
    if (name.toLowerCase() !== 'upgrade') lines += `${name}: ${value}\r\n`;
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines}\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}

function ignore(): void {
  // the caller gets the error
}
