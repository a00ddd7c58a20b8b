import { cantonError, RequestError, requestError } from '../errors.js';
import type { FaultSocket } from '../FaultSocket.js';
import { type Answer, type Call, errorAnswer, jsonAnswer, rewriteAnswer, type Stream } from '../http/Call.js';
import type { Ledger } from '../ledger/Ledger.js';
import type { Channel } from './Channel.js';

/** Sends the stream of a request and closes the WebSocket; an error is sent as the last message. */
export async function serveSocket(channel: Channel, stream: Stream, call: Call): Promise<void> {
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
  const body = cantonError('LEDGER_API_INTERNAL_ERROR', { cause: error.body, definiteAnswer: false });
  // the JSON layer creates this error, without a context
  return errorAnswer(new RequestError(500, { ...body, context: {} }), traceId);
}
