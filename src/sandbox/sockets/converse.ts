import { cantonError, Refusal, refused } from '../errors.js';
import type { FaultSocket } from '../FaultSocket.js';
import { type Answer, type Call, jsonAnswer, refusalAnswer, rewritten, type Stream } from '../http/Call.js';
import type { Channel } from './Channel.js';

/** Answers a request with its stream, and with how it ended. */
export async function serveSocket(channel: Channel, stream: Stream, call: Call): Promise<void> {
  try {
    await sendAll(channel, stream, call).catch(async (error: unknown) => {
      if (!(error instanceof Refusal)) throw error;
      await channel.send(message(errorMessage(error, call.trace.id), call));
      channel.end();
    });
  } catch {
    channel.end(1011);
  }
}

async function sendAll(channel: Channel, stream: Stream, call: Call): Promise<void> {
  const { fault, isAuthorized } = call;
  if (!isAuthorized()) throw refused('UNAUTHENTICATED', 'no good token');
  const due = fault?.kind === 'socket' && fault.how !== 'refuse' ? fault : undefined;
  let left = due?.elements ?? 0;
  if (due !== undefined && left <= 0) return injectSocketFault(due, channel);
  for await (const element of stream(call)) {
    if (!isAuthorized()) throw refused('ACCESS_TOKEN_EXPIRED', 'JWT token has expired');
    await channel.send(message(jsonAnswer(element), call));
    left -= 1;
    if (due !== undefined && left <= 0) return injectSocketFault(due, channel);
  }
  channel.end();
}

/** Does to a WebSocket what its fault says. */
async function injectSocketFault(fault: Exclude<FaultSocket, { how: 'refuse' }>, channel: Channel): Promise<void> {
  switch (fault.how) {
    case 'close':
      channel.end(fault.code, fault.reason);
      return;
    case 'cut':
      channel.cut();
      return;
    case 'silence':
      channel.silence();
      return;
    case 'error':
      await channel.send(typeof fault.body === 'string' ? fault.body : JSON.stringify(fault.body));
      channel.end();
  }
}

function message(answer: Answer, { fault }: Call): string {
  if (fault?.kind !== 'rewrite') return answer.body;
  const { contentType, body } = rewritten(answer, fault);
  if (contentType !== answer.contentType) throw new Error(body);
  return body;
}

/** A refusal as the message that tells it: what is text over HTTP is an internal error here. */
function errorMessage(refusal: Refusal, traceId: string): Answer {
  if (typeof refusal.body !== 'string') return refusalAnswer(refusal, traceId);
  const body = cantonError('LEDGER_API_INTERNAL_ERROR', { cause: refusal.body, definiteAnswer: false });
  // made by the JSON layer, which adds no context
  return refusalAnswer(new Refusal(500, { ...body, context: {} }), traceId);
}
