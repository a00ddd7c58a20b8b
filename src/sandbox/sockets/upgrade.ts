import { type IncomingHttpHeaders, type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { RequestError, requestError } from '../errors.js';
import type { Fault } from '../Fault.js';
import { type Answer, errorAnswer, type Service, statusAnswer, type Stream } from '../http/Call.js';
import { parseForLog, parseUrl, readBearerToken, readTrace, RequestRecord } from '../http/requests.js';
import { sendAnswer } from '../http/serve.js';
import { Channel } from './Channel.js';
import { serveSocket } from './serveSocket.js';

/** Serves a WebSocket: logs it, takes its fault, completes the handshake and serves its first message. */
export async function serveUpgrade(
  request: IncomingMessage,
  head: Buffer,
  stream: Stream,
  { participant, faults, log }: Service,
): Promise<void> {
  const { headers, socket } = request;
  const { settings } = participant;
  const { path, query } = parseUrl(request);
  const protocolToken = readProtocolToken(headers);
  const authorized = /^Bearer\s+\S/i.test(headers.authorization ?? '') || Boolean(protocolToken);
  const record = new RequestRecord('GET', path, Object.fromEntries(query), authorized);
  log.push(record);
  const disconnected = new AbortController();
  socket.on('error', () => {
    // handled by the close event that follows
  });
  socket.once('close', () => {
    record.onClose();
    disconnected.abort();
  });
  const fault = faults.take(path, 'upgrade');
  const trace = readTrace(settings.profile === '3.4' ? {} : headers);
  try {
    if (fault?.kind === 'hang' || fault?.kind === 'reset') {
      refuseUpgrade(request, undefined, fault, record);
      return;
    }
    if (fault?.kind === 'status' || (fault?.kind === 'socket' && fault.how === 'refuse')) {
      refuseUpgrade(request, statusAnswer(fault), fault, record);
      return;
    }
    const token = readBearerToken(headers.authorization) ?? protocolToken;
    const isAuthorized = () => settings.checkToken?.(token) ?? true;
    if (settings.webSocketRefusal === 'handshake' && !isAuthorized())
      throw requestError('UNAUTHENTICATED', 'no good token');
    const channel = new Channel({
      socket: await handshake(request, socket, head),
      raw: socket,
      idleMs: settings.webSocketIdleMs,
      onEnd: () => {
        record.settle();
      },
    });
    record.status = 101;
    const first = await channel.firstMessage;
    const body = typeof first === 'string' ? first : '';
    record.body = parseForLog(body);
    await serveSocket(channel, stream, {
      participant,
      body,
      query,
      trace,
      fault,
      signal: disconnected.signal,
      isAuthorized,
    });
  } catch (error) {
    if (error instanceof RequestError) refuseUpgrade(request, errorAnswer(error, trace.id), undefined, record);
    else socket.destroy();
  }
}

const tokenPrefix = 'jwt.token.';

/** Reads the token of the subprotocols. Participants read only the first one. */
function readProtocolToken({ 'sec-websocket-protocol': protocols = '' }: IncomingHttpHeaders): string | undefined {
  const [first = ''] = protocols.split(',');
  return first.startsWith(tokenPrefix) ? first.slice(tokenPrefix.length) : undefined;
}

/** Responds to an upgrade over HTTP, or applies the fault to its connection. */
function refuseUpgrade(
  request: IncomingMessage,
  answer: Answer | undefined,
  fault: Fault | undefined,
  record: RequestRecord,
): void {
  const { socket } = request;
  closeWithClient(socket);
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => socket.end());
  sendAnswer(answer, fault, response, record);
}

/** Closes the connection when the client does. The HTTP parser, which would do this, has released the socket. */
function closeWithClient(socket: Socket): void {
  socket.once('end', () => socket.destroy()).resume();
}

const wsNotInstalled =
  'The sandbox could not load the package for WebSockets.\r\n' + 'Install it: npm install --save-dev ws@^8.18.0\r\n';

/** Completes the handshake with the optional package `ws`, loaded on first use. Everything else works without it. */
async function handshake(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<WebSocket> {
  const { WebSocketServer } = await import('ws').catch(() => {
    throw new RequestError(501, wsNotInstalled);
  });
  return new Promise((resolve, reject) => {
    // the channel sends the pongs; participants always respond with their one subprotocol, whether or not it was
    // offered
    const server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      autoPong: false,
      handleProtocols: () => false,
    });
    server.on('headers', (headers) => headers.push('Sec-WebSocket-Protocol: daml.ws.auth'));
    server.on('wsClientError', ({ message }) => {
      reject(new RequestError(400, message));
    });
    server.handleUpgrade(request, socket, head, resolve);
  });
}
