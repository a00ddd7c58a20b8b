import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { fromEvent, lastValueFrom, takeUntil } from 'rxjs';
import { RequestError } from '../errors.js';
import type { Participant } from '../participant/Participant.js';
import type { Settings } from '../participant/Settings.js';
import { clampTimer } from '../wire/values.js';
import { answerRequest } from './answerRequest.js';
import { type Answer, checkBodySize, errorAnswer, logRequest, parseForLog, parseUrl, sendAnswer } from './Call.js';
import { corsHeaders, refuseForeign } from './door.js';
import { findStream } from './routes.js';
import { serveSocket } from './serveSocket.js';

/** Starts the server. It keeps its port across restarts. */
export async function startServer(port: number, participant: Participant): Promise<RunningServer> {
  let current = await listen(port, participant);
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
    await pause(downMs, closing.signal);
    // lets a client in this process notice the end of its connections first, so that it does not reuse them
    for (let turn = 0; turn < 2; turn++) await nextTurn();
    if (!closing.signal.aborted) current = await listen(boundPort, participant);
  }

  async function close(): Promise<void> {
    closing.abort();
    await current.close();
    await lastRestart.catch(ignore);
    // a restart may have opened the port in the meantime
    await current.close();
  }
}

export interface RunningServer {
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
async function listen(port: number, participant: Participant): Promise<ListeningServer> {
  const server = createServer((request, response) => void serve(request, response, participant));
  // the HTTP server does not track upgraded connections
  const upgraded = new Set<Socket>();
  server.on('upgrade', (request, _socket, head) => {
    const { socket } = request;
    const stream = isWebSocketUpgrade(request) ? findStream(parseUrl(request).path, participant.settings) : undefined;
    if (stream === undefined) {
      reemitUpgrade(server, request, head);
      return;
    }
    upgraded.add(socket);
    socket.once('close', () => upgraded.delete(socket));
    void serveSocket(request, head, stream, participant);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the sandbox has no TCP address');
  let closed: Promise<void> | undefined;
  const close = () => {
    const ended = promisify(server.close.bind(server))();
    for (const record of participant.log) record.settle();
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

/** Resolves after a time in milliseconds, or when the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(end, clampTimer(ms));
    signal.addEventListener('abort', end, { once: true });

    function end() {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    }
  });
}

/** Serves one request: logs it, takes its fault, and sends the response. */
async function serve(request: IncomingMessage, response: ServerResponse, participant: Participant): Promise<void> {
  const { faults } = participant;
  const { method = 'GET', headers } = request;
  const { path, query, record, signal } = logRequest(request, response, participant);
  const refusal = refuseForeign(headers, participant.settings);
  const cors = refusal === undefined ? corsHeaders(headers) : undefined;
  const preflight: Answer | undefined = cors && method === 'OPTIONS' ? { status: 204, body: '' } : undefined;
  const direct = refusal ?? preflight;
  // neither a refused request nor a preflight takes the fault of the request that follows it
  const fault = direct === undefined ? faults.take(path) : undefined;
  try {
    const bytes = await readBytes(request, participant.settings);
    const body = bytes.toString();
    record.body = parseForLog(body);
    const arrived = { participant, method, path, query, headers, body, bytes, fault };
    const answer$ = answerRequest(arrived).pipe(takeUntil(fromEvent(signal, 'abort')));
    const answer = direct ?? (await lastValueFrom(answer$, { defaultValue: undefined }));
    if (request.socket.destroyed) return;
    sendAnswer(answer && { ...answer, headers: { ...cors, ...answer.headers } }, fault, response, record);
  } catch (error) {
    if (error instanceof RequestError) sendAnswer(errorAnswer(error, ''), undefined, response, record);
    // the client disconnected
    else response.destroy();
  }
}

/** Reads the body of a request. The rest of a body that is too large is read, but not kept. */
async function readBytes(request: IncomingMessage, settings: Settings): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= settings.maxBodyBytes) chunks.push(chunk);
  }
  checkBodySize(size, settings);
  return Buffer.concat(chunks);
}

function ignore(): void {
  // the caller gets the error
}
