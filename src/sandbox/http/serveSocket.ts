import { type IncomingHttpHeaders, type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { firstValueFrom, fromEvent, takeUntil } from 'rxjs';
import { RequestError, requestError } from '../errors.js';
import type { Fault } from '../faults/Fault.js';
import type { Participant } from '../participant/Participant.js';
import type { RequestRecord } from '../participant/RequestRecord.js';
import {
  type Answer,
  type Call,
  errorAnswer,
  logRequest,
  parseForLog,
  readBearerToken,
  readTrace,
  sendAnswer,
  statusAnswer,
  type Stream,
  unavailable,
} from './Call.js';
import { Channel } from './Channel.js';
import { refuseForeign } from './door.js';
import { socketSteps } from './socketSteps.js';
import { Wait } from './Wait.js';

/** Serves a WebSocket: logs it, takes its fault, completes the handshake and serves its first message. */
export async function serveSocket(
  request: IncomingMessage,
  head: Buffer,
  stream: Stream,
  participant: Participant,
): Promise<void> {
  const { headers, socket } = request;
  const { settings, faults } = participant;
  const protocolToken = readProtocolToken(headers);
  socket.on('error', () => {
    // handled by the close event that follows
  });
  const { path, query, record, signal } = logRequest(request, socket, participant, protocolToken);
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
    const call = { ...received, trace, fault, isAuthorized, timeoutAnswer: unavailable };
    await answerSocket(channel, stream, call, signal);
  } catch (error) {
    if (error instanceof RequestError) refuseUpgrade(request, errorAnswer(error, trace.id), undefined, record);
    else socket.destroy();
  }
}

/** Does to a WebSocket what its stream says, each step after the one before has left this process. */
async function answerSocket(channel: Channel, stream: Stream, call: Call, signal: AbortSignal): Promise<void> {
  for (const step of socketSteps(stream, call)) {
    if (signal.aborted) return;
    if (step instanceof Wait) await hasWaited(step, signal);
    else if (step.kind === 'text') await channel.send(step.text);
    else if (step.kind === 'close') channel.end(step.code, step.reason);
    else if (step.kind === 'cut') channel.reset();
    else channel.silence();
  }
}

const hasWaited = ({ until$ }: Wait, signal: AbortSignal): Promise<unknown> =>
  firstValueFrom(until$.pipe(takeUntil(fromEvent(signal, 'abort'))), { defaultValue: undefined });

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
