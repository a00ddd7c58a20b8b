import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from './Answer.js';
import { textAnswer } from './textAnswer.js';
import { timerMs } from './timerMs.js';

const late =
  'The server was not able to produce a timely response to your request.\r\nPlease try again in a short while!';

/** Gives work a time after which its answer is the 503 of the request timeout. `over` fires when it need not go on. */
export async function inTime(
  timeoutMs: number,
  signal: AbortSignal,
  work: (over: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const answered = new AbortController();
  const over = AbortSignal.any([signal, answered.signal]);
  try {
    return await Promise.race([work(over), sleep(timerMs(timeoutMs), textAnswer(503, late), { signal: over })]);
  } finally {
    answered.abort();
  }
}
