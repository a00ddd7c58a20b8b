import { type IncomingHttpHeaders, type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { jsonLayerError, RequestError, requestError } from '../errors.js';
import type { Fault, FaultSocket } from '../Fault.js';
import type { Ledger } from '../ledger/Ledger.js';
import type { Participant, RequestRecord } from '../participant/Participant.js';
import {
  type Answer,
  type Call,
  errorAnswer,
  jsonAnswer,
  logRequest,
  parseForLog,
  readBearerToken,
  readTrace,
  rewriteAnswer,
  sendAnswer,
  statusAnswer,
  type Stream,
  unavailable,
} from './Call.js';
import { Channel } from './Channel.js';
import { refuseForeign } from './door.js';

/** Serves a WebSocket: logs it, takes its fault, completes the handshake and serves its first message. */
export async function serveSocket(
  request: IncomingMessage,
  head: Buffer,
  stream: Stream,
  participant: Participant,
): Promise<void> {
  const { headers, socket } = request;
  const { settings, faults, log } = participant;
  const protocolToken = readProtocolToken(headers);
  socket.on('error', () => {
    // handled by the close event that follows
  });
  const { path, query, record, signal } = logRequest(request, socket, log, protocolToken);
  const refusal = refuseForeign(headers, settings);
  if (refusal !== undefined) {
    refuseUpgrade(request, refusal, undefined, record);
    return;
  }
  const fault = faults.take(path, 'upgrade');
  const trace = readTrace(settings.profile < '3.5' ? {} : headers);
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
      socket: await handshake(request, head),
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
    const received = { participant, method: 'GET', path, query, headers, body, bytes: Buffer.alloc(0) };
    const call = { ...received, trace, fault, signal, isAuthorized, timeoutAnswer: unavailable };
    await answerSocket(channel, stream, call);
  } catch (error) {
    if (error instanceof RequestError) refuseUpgrade(request, errorAnswer(error, trace.id), undefined, record);
    else socket.destroy();
  }
}

/** Sends the stream of a request and closes the WebSocket; an error is sent as the last message. */
async function answerSocket(channel: Channel, stream: Stream, call: Call): Promise<void> {
  try {
    await sendStream(channel, stream, call).catch(async (error: unknown) => {
      if (!(error instanceof RequestError)) throw error;
      await channel.send(toMessage(errorMessage(error, call.trace.id), call));
      channel.end();
    });
  } catch {
    channel.end(1011);
  }
}

async function sendStream(channel: Channel, stream: Stream, call: Call): Promise<void> {
  const { fault, isAuthorized } = call;
  if (!isAuthorized()) throw requestError('UNAUTHENTICATED', 'no good token');
  const socketFault = fault?.kind === 'socket' && fault.how !== 'refuse' ? fault : undefined;
  let remaining = socketFault?.elements ?? 0;
  if (socketFault !== undefined && remaining <= 0) return injectSocketFault(socketFault, channel);
  const { ledger } = call.participant;
  const { restores } = ledger;
  for await (const element of stream(call)) {
    checkRestored(ledger, restores);
    if (!isAuthorized()) throw requestError('ACCESS_TOKEN_EXPIRED', 'JWT token has expired');
    await channel.send(toMessage(jsonAnswer(element), call));
    remaining -= 1;
    if (socketFault !== undefined && remaining <= 0) return injectSocketFault(socketFault, channel);
  }
  checkRestored(ledger, restores);
  channel.end();
}

/** Breaks off a stream whose ledger was restored: a normal end would look like a complete stream. */
function checkRestored(ledger: Ledger, restoresBefore: number): void {
  if (ledger.restores !== restoresBefore) throw new Error('The ledger was restored');
}

/** Applies a fault to a WebSocket. */
async function injectSocketFault(fault: Exclude<FaultSocket, { how: 'refuse' }>, channel: Channel): Promise<void> {
  switch (fault.how) {
    case 'close':
      channel.end(fault.code, fault.reason);
      return;
    case 'cut':
      channel.reset();
      return;
    case 'silence':
      channel.silence();
      return;
    case 'error':
      await channel.send(typeof fault.body === 'string' ? fault.body : JSON.stringify(fault.body));
      channel.end();
  }
}

function toMessage(answer: Answer, { fault }: Call): string {
  if (fault?.kind !== 'rewrite') return answer.body;
  const { contentType, body } = rewriteAnswer(answer, fault);
  if (contentType !== answer.contentType) throw new Error(body);
  return body;
}

/** The message of an error. An error that is plain text over HTTP is an internal error here. */
function errorMessage(error: RequestError, traceId: string): Answer {
  if (typeof error.body !== 'string') return errorAnswer(error, traceId);
  return errorAnswer(jsonLayerError(500, 'LEDGER_API_INTERNAL_ERROR', error.body), traceId);
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
async function handshake(request: IncomingMessage, head: Buffer): Promise<WebSocket> {
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
    server.handleUpgrade(request, request.socket, head, resolve);
  });
}
