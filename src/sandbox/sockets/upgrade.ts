import { type IncomingHttpHeaders, type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { Refusal, refused } from '../errors.js';
import type { Fault } from '../Fault.js';
import { type Answer, refusalAnswer, type Service, statusAnswer, type Stream } from '../http/Call.js';
import { addressOf, bearerToken, parsed, RequestRecord, traceOf } from '../http/requests.js';
import { deliver } from '../http/serve.js';
import { Channel } from './Channel.js';
import { serveSocket } from './converse.js';

/** Serves one WebSocket, from its place in the log to its end. */
export async function serveUpgrade(
  request: IncomingMessage,
  head: Buffer,
  stream: Stream,
  { participant, faults, log }: Service,
): Promise<void> {
  const { headers, socket } = request;
  const { settings } = participant;
  const { path, query } = addressOf(request);
  const offered = protocolToken(headers);
  const authorized = /^Bearer\s+\S/i.test(headers.authorization ?? '') || Boolean(offered);
  const record = new RequestRecord('GET', path, Object.fromEntries(query), authorized);
  log.push(record);
  const gone = new AbortController();
  socket.on('error', () => {
    // the close that follows says it all
  });
  socket.once('close', () => {
    record.closed();
    gone.abort();
  });
  const fault = faults.take(path, 'upgrade');
  const trace = traceOf(settings.profile === '3.4' ? {} : headers);
  try {
    if (fault?.kind === 'hang' || fault?.kind === 'reset') {
      refuseUpgrade(request, undefined, fault, record);
      return;
    }
    if (fault?.kind === 'status' || (fault?.kind === 'socket' && fault.how === 'refuse')) {
      refuseUpgrade(request, statusAnswer(fault), fault, record);
      return;
    }
    const token = bearerToken(headers.authorization) ?? offered;
    const isAuthorized = () => settings.checkToken?.(token) ?? true;
    if (settings.webSocketRefusal === 'handshake' && !isAuthorized()) throw refused('UNAUTHENTICATED', 'no good token');
    const channel = new Channel({
      socket: await handshake(request, socket, head),
      raw: socket,
      idleMs: settings.webSocketIdleMs,
      onEnd: () => {
        record.settle();
      },
    });
    record.status = 101;
    const first = await channel.first;
    const body = typeof first === 'string' ? first : '';
    record.body = parsed(body);
    await serveSocket(channel, stream, { participant, body, query, trace, fault, signal: gone.signal, isAuthorized });
  } catch (error) {
    if (error instanceof Refusal) refuseUpgrade(request, refusalAnswer(error, trace.id), undefined, record);
    else socket.destroy();
  }
}

const prefix = 'jwt.token.';

/** The token among the subprotocols, where participants find it: in the first one alone. */
function protocolToken({ 'sec-websocket-protocol': protocols = '' }: IncomingHttpHeaders): string | undefined {
  const [first = ''] = protocols.split(',');
  return first.startsWith(prefix) ? first.slice(prefix.length) : undefined;
}

/** Answers an upgrade by what is none, or does to its connection what the fault says. */
function refuseUpgrade(
  request: IncomingMessage,
  answer: Answer | undefined,
  fault: Fault | undefined,
  record: RequestRecord,
): void {
  const { socket } = request;
  endWithClient(socket);
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => socket.end());
  deliver(answer, fault, response, record);
}

/** The parser that would have noticed has let go of the socket. */
function endWithClient(socket: Socket): void {
  socket.once('end', () => socket.destroy()).resume();
}

const missing =
  'The sandbox serves WebSockets with a package that could not be loaded.\r\n' +
  'Install it: npm install --save-dev ws@^8.18.0\r\n';

/** Accepts an upgrade, with the package `ws`. It is optional, and loaded when it is needed; all else works without. */
async function handshake(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<WebSocket> {
  const { WebSocketServer } = await import('ws').catch(() => {
    throw new Refusal(501, missing);
  });
  return new Promise((resolve, reject) => {
    // pongs are left to the channel; the one subprotocol is answered whether it was offered or not
    const server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      autoPong: false,
      handleProtocols: () => false,
    });
    server.on('headers', (headers) => headers.push('Sec-WebSocket-Protocol: daml.ws.auth'));
    server.on('wsClientError', ({ message }) => {
      reject(new Refusal(400, message));
    });
    server.handleUpgrade(request, socket, head, resolve);
  });
}
