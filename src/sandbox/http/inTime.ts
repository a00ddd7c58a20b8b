import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from './Answer.js';
import { timeoutAnswer } from './timeoutAnswer.js';
import { timerMs } from './timerMs.js';

/** Gives work a time after which its answer is the 503 of the request timeout. `over` fires when it need not go on. */
export async function inTime(
  timeoutMs: number,
  signal: AbortSignal,
  work: (over: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const answered = new AbortController();
  const over = AbortSignal.any([signal, answered.signal]);
  try {
    return await Promise.race([work(over), sleep(timerMs(timeoutMs), timeoutAnswer(), { signal: over })]);
  } finally {
    answered.abort();
  }
}
