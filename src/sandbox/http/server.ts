import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as turnOfTheLoop, setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { serveUpgrade } from '../sockets/upgrade.js';
import { timerMs } from '../wire/values.js';
import type { Service } from './Call.js';
import { addressOf } from './requests.js';
import { streamAt } from './routes.js';
import { serve } from './serve.js';

interface Restartable {
  readonly url: string;
  readonly restart: (downMs: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Opens the service at a port that it keeps over restarts. */
export async function restartable(wanted: number, service: Service): Promise<Restartable> {
  let current = await listen(wanted, service);
  const { url, port } = current;
  const closing = new AbortController();
  let turn = Promise.resolve();
  return { url, restart, close };

  function restart(downMs: number): Promise<void> {
    turn = turn.catch(ignore).then(() => reopen(downMs));
    return turn;
  }

  async function reopen(downMs: number): Promise<void> {
    await current.close();
    await sleep(timerMs(downMs), undefined, { signal: closing.signal }).catch(ignore);
    // a client in this process hears of the end of its connections first, and does not use them again
    await turnOfTheLoop();
    if (!closing.signal.aborted) current = await listen(port, service);
  }

  async function close(): Promise<void> {
    closing.abort();
    await current.close();
    await turn.catch(ignore);
    // a restart may have been opening the port
    await current.close();
  }
}

interface Listening {
  readonly url: string;
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** Opens the service on the loopback interface. */
async function listen(port: number, service: Service): Promise<Listening> {
  const server = createServer((request, response) => void serve(request, response, service));
  // the server forgets a connection that asks for an upgrade
  const upgraded = new Set<Socket>();
  server.on('upgrade', (request, _socket, head) => {
    const { socket } = request;
    const stream = isUpgrade(request) ? streamAt(addressOf(request).path, service.participant.settings) : undefined;
    if (stream === undefined) {
      reemitUpgrade(server, request, head);
      return;
    }
    upgraded.add(socket);
    socket.once('close', () => upgraded.delete(socket));
    void serveUpgrade(request, head, stream, service);
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

/** Whether a request is the begin of a WebSocket; one that lacks a part of it is none. */
function isUpgrade({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['sec-websocket-version'] === '13' &&
    /^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '')
  );
}

/**
 * Has a request served as if it had not asked for an upgrade, which is what HTTP asks of a server that does not offer
 * it. Clients that would like HTTP/2 ask on each request.
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
  // its caller is told
}
