import type { IncomingMessage } from 'node:http';
import { Refusal } from '../errors/Refusal.js';
import { refusalAnswer } from '../errors/refusalAnswer.js';
import { refused } from '../errors/refused.js';
import { addressOf } from '../http/addressOf.js';
import { bearerToken } from '../http/bearerToken.js';
import { parsed } from '../http/parsed.js';
import { RequestRecord } from '../http/RequestRecord.js';
import type { Service } from '../http/Service.js';
import { statusAnswer } from '../http/statusAnswer.js';
import type { Stream } from '../http/Stream.js';
import { traceOf } from '../http/traceOf.js';
import { Channel } from './Channel.js';
import { converse } from './converse.js';
import { handshake } from './handshake.js';
import { protocolToken } from './protocolToken.js';
import { refuseUpgrade } from './refuseUpgrade.js';

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
    await converse(channel, stream, { participant, body, query, trace, fault, signal: gone.signal, isAuthorized });
  } catch (error) {
    if (error instanceof Refusal) refuseUpgrade(request, refusalAnswer(error, trace.id), undefined, record);
    else socket.destroy();
  }
}
