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
      return fault.when === 'after' ? process(work, fault) : undefined;
    case 'rewrite':
      return rewritten(await process(work, fault), fault);
    default:
      return process(work, fault);
  }
}

/** Processes at once, so that a late or lost answer is one to work that was done. */
function process(work: Work, fault: Fault | undefined): Promise<Answer> {
  const { query, headers, body, participant, signal } = work;
  const { settings } = participant;
  const isAuthorized = () => {
    const token = bearerToken(headers.authorization);
    return settings.checkToken?.(token) ?? true;
  };
  const call = { participant, body, query, trace: traceOf(headers), fault, isAuthorized };
  return inTime(settings.requestTimeoutMs, signal, async (over) => {
    const answer = await dispatch(work, { ...call, signal: over });
    if (fault?.kind === 'delay' && fault.ms > 0) await sleep(fault.ms, undefined, { signal: over });
    return answer;
  });
}
