import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../faults/Fault.js';
import type { Answer } from './Answer.js';
import { bearerToken } from './bearerToken.js';
import { dispatch } from './dispatch.js';
import { inTime } from './inTime.js';
import { rewritten } from './rewritten.js';
import { statusAnswer } from './statusAnswer.js';
import { traceOf } from './traceOf.js';
import type { Work } from './Work.js';

/** The answer to a request, `undefined` if its fault is that there is none. */
export async function answerOf(work: Work, fault: Fault | undefined): Promise<Answer | undefined> {
  switch (fault?.kind) {
    case 'status':
      return statusAnswer(fault);
    case 'body':
      return { status: 200, contentType: 'application/json', body: fault.body };
    case 'hang':
      return undefined;
    case 'reset':
      return fault.when === 'after' ? process(work, 0) : undefined;
    case 'delay':
      return process(work, fault.ms);
    case 'rewrite':
      return rewritten(await process(work, 0), fault);
    default:
      return process(work, 0);
  }
}

/** Processes at once, so that a late or lost answer is one to work that was done. */
function process(work: Work, delayMs: number): Promise<Answer> {
  const { query, headers, body, participant, signal } = work;
  const { settings } = participant;
  const isAuthorized = () => {
    const token = bearerToken(headers.authorization);
    return settings.checkToken?.(token) ?? true;
  };
  const call = { participant, body, query, trace: traceOf(headers), isAuthorized };
  return inTime(settings.requestTimeoutMs, signal, async (over) => {
    const answer = await dispatch(work, { ...call, signal: over });
    if (delayMs > 0) await sleep(delayMs, undefined, { signal: over });
    return answer;
  });
}
