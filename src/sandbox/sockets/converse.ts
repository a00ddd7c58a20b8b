import { Refusal } from '../errors/Refusal.js';
import { refused } from '../errors/refused.js';
import type { Answer } from '../http/Answer.js';
import type { Call } from '../http/Call.js';
import { jsonAnswer } from '../http/jsonAnswer.js';
import { rewritten } from '../http/rewritten.js';
import type { Stream } from '../http/Stream.js';
import type { Channel } from './Channel.js';
import { errorMessage } from './errorMessage.js';
import { strike } from './strike.js';

/** Answers a request with its stream, and with how it ended. */
export async function converse(channel: Channel, stream: Stream, call: Call): Promise<void> {
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
  if (due !== undefined && left <= 0) return strike(due, channel);
  for await (const element of stream(call)) {
    if (!isAuthorized()) throw refused('ACCESS_TOKEN_EXPIRED', 'JWT token has expired');
    await channel.send(message(jsonAnswer(element), call));
    left -= 1;
    if (due !== undefined && left <= 0) return strike(due, channel);
  }
  channel.end();
}

function message(answer: Answer, { fault }: Call): string {
  if (fault?.kind !== 'rewrite') return answer.body;
  const { contentType, body } = rewritten(answer, fault);
  if (contentType !== answer.contentType) throw new Error(body);
  return body;
}
