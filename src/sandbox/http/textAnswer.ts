import type { Answer } from './Answer.js';

/** A plain-text answer: the form of everything that fails before the ledger is asked. */
export function textAnswer(status: number, body: string): Answer {
  return { status, contentType: 'text/plain; charset=UTF-8', body };
}
